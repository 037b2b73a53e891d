/**
 * `GET …/metrics/series`: one metric over time, in points of an interval. Points of senders become one form: a level
 * (gauges, and sums that also fall), a count (monotonic sums, as increases), or a distribution (histograms, with
 * quantiles). Cumulative values become increases since the previous point of their stream. A stream that restarted
 * counts from zero.
 */
import { ConsoleError } from '../errors.ts';
import { reachOf, withCompleteness } from './completeness.ts';
import { Parameters } from '../filter/parameters.ts';
import { nanosecondsOf } from '../filter/values.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { allOf, boundedRangeOf, environmentCondition, intervalOf, type Range } from './question.ts';
import type { MetricForm } from './shapes/metrics.ts';
import { nameText } from './texts.ts';
import { DAY_MS } from '../../../pdata/time-units.ts';

const MAX_DAYS = 31;
const INTERVALS = ['10s', '30s', '1m', '5m', '15m', '30m', '1h', '3h', '6h', '1d'] as const;
/** The newest points that are read. A point of a histogram has many buckets. */
const MAX_POINTS: Readonly<Record<MetricForm, number>> = { level: 20_000, count: 20_000, distribution: 4_000 };
const MAX_SERIES = 50;
const MAX_KEYS = 50;
const LONGEST_KEY = 256;
const LONGEST_ATTRIBUTES = 4096;
/** Points before the range that only show where a cumulative value began. */
const LOOK_BACK_NS = 600_000_000_000n;
/** The sum of larger values could overflow. They are left out, as infinities and NaN are. */
const LARGEST = '1e290';
/** Smaller values are zero: PostgreSQL refuses a quotient that no double can hold. */
const SMALLEST = '1e-240';
const QUANTILES = [0.5, 0.95, 0.99];

interface About {
  readonly type: string;
  readonly form: MetricForm;
  readonly json: string;
}

export const showMetric = readRoute(
  `${PROJECT}/metrics/series`,
  ['name', 'by', 'interval', 'env', 'from', 'to', 'archived'],
  async (context) => {
    const { query, reader } = context;
    const name = query.get('name') ?? '';
    const range = boundedRangeOf(context, { days: MAX_DAYS, defaultMs: DAY_MS });
    const interval = intervalOf(context, range, INTERVALS);
    const by = groupOf(context);
    const head = { name, from: String(range.from), to: String(range.until), interval, by: query.get('by') ?? '' };
    const { reply, completeness } = await reachOf(context, { of: 'metrics', ...range, isDetailed: false });
    if (reply !== null) return reply;
    const about = await aboutMetric(context, name);
    if (about === null) {
      const nothing = {
        points_examined: 0,
        reached: null,
        cut: false,
        resets: 0,
        series_count: 0,
        attribute_names: [],
      };
      return jsonText(JSON.stringify({ ...head, ...UNKNOWN, ...nothing, series: [], ...completeness }));
    }
    const parameters = new Parameters();
    const text = seriesText(context, { about, name, range, interval, by }, parameters);
    const [row] = await reader.query(text, parameters.values);
    const [start, middle] = [JSON.stringify(head).slice(0, -1), about.json.slice(1, -1)];
    return jsonText(withCompleteness(`${start},${middle},${String(row?.['answer']).slice(1)}`, completeness));
  },
);

const UNKNOWN = {
  type: null,
  unit: null,
  description: null,
  temporality: null,
  is_monotonic: null,
  form: 'level',
  last_time_unix_nano: null,
};

/** What the newest point says about the metric. Points of another type are left out. */
async function aboutMetric(context: RequestContext, name: string): Promise<About | null> {
  const parameters = new Parameters();
  const conditions = [
    ...ofMetric(context, name, parameters),
    ...environmentCondition(context, 'm.environment', parameters),
  ];
  const [row] = await context.reader.query(
    `SELECT m.type, m.type IN ('histogram', 'exponential_histogram', 'summary') AS is_distribution, m.is_monotonic,
       json_build_object('type', m.type, 'unit', ${nameText('m.unit')}, 'description', ${nameText('m.description')}, 'temporality', m.temporality,
         'is_monotonic', m.is_monotonic, 'last_time_unix_nano', m.time_unix_nano::text)::text AS about
     FROM sluice.metric_points m WHERE ${allOf(conditions)} ORDER BY m.time_unix_nano DESC NULLS LAST LIMIT 1`,
    parameters.values,
  );
  if (row === undefined) return null;
  const type = String(row['type']);
  const form = row['is_distribution'] === true ? 'distribution' : type === 'sum' && isCount(row) ? 'count' : 'level';
  return { type, form, json: `${String(row['about']).slice(0, -1)},"form":"${form}"}` };
}

const isCount = (row: Readonly<Record<string, unknown>>): boolean => row['is_monotonic'] === true;

/** The index begins with the project and the first 128 characters of the name. */
function ofMetric({ project }: RequestContext, name: string, parameters: Parameters): readonly string[] {
  const [of, named] = [parameters.add(project), parameters.add(name)];
  return [`m.project = ${of}::text`, `left(m.name, 128) = left(${named}::text, 128)`, `m.name = ${named}::text`];
}

/** The expression of the key of a series, by a name that is placed as a parameter. */
type Group = (parameters: Parameters) => string;

/** The parameter `by`: empty for every stream of its own, `none`, `service`, `env`, or `attr.K`. */
function groupOf({ caller, query }: RequestContext): Group {
  const by = query.get('by') ?? '';
  const attribute = /^attr\.(.+)$/su.exec(by)?.[1];
  if (attribute !== undefined) {
    if (!caller.seesContent) throw new ConsoleError('forbidden', { message: 'Attributes are not shown to you.' });
    return (parameters) =>
      `jsonb_build_object('value', left(m.attributes ->> ${parameters.add(attribute)}::text, ${LONGEST_KEY}))`;
  }
  const key = GROUPS[by];
  if (key === undefined || !Object.hasOwn(GROUPS, by))
    throw new ConsoleError('request_invalid', { message: '`by` is none, service, env or attr.NAME.' });
  return () => (by === '' && caller.seesContent ? STREAM_KEY : key);
}

/** Long attributes are represented by their hash. */
const ATTRIBUTES = `CASE WHEN length(m.attributes::text) <= ${LONGEST_ATTRIBUTES} THEN m.attributes
  ELSE jsonb_build_object('hash', md5(m.attributes::text)) END`;
const STREAM_KEY = `jsonb_build_object('service', ${nameText('m.service_name')}, 'attributes', ${ATTRIBUTES})`;
const GROUPS: Readonly<Record<string, string>> = {
  '': `jsonb_build_object('service', ${nameText('m.service_name')})`,
  none: `'{}'::jsonb`,
  service: `jsonb_build_object('service', ${nameText('m.service_name')})`,
  env: `jsonb_build_object('value', m.environment)`,
};

interface Question {
  readonly about: About;
  readonly name: string;
  readonly range: Range;
  readonly interval: string;
  readonly by: Group;
}

const finite = (value: string): string =>
  `CASE WHEN abs(${value}) < ${SMALLEST} THEN 0 WHEN ${value} BETWEEN -${LARGEST} AND ${LARGEST} THEN ${value} END`;

function seriesText(context: RequestContext, question: Question, parameters: Parameters): string {
  const { about, name, range, interval, by } = question;
  const most = MAX_POINTS[about.form];
  const ns = parameters.add(String(nanosecondsOf(interval)));
  const [from, until] = [range.from, range.until].map((each) => parameters.add(String(each)));
  const conditions = [
    ...ofMetric(context, name, parameters),
    `m.type = ${parameters.add(about.type)}::text`,
    `m.time_unix_nano >= ${from}::int8 - ${LOOK_BACK_NS} AND m.time_unix_nano < ${until}::int8`,
    ...environmentCondition(context, 'm.environment', parameters),
  ];
  const names = context.caller.seesContent
    ? `(SELECT coalesce(json_agg(k ORDER BY k), '[]') FROM (
         SELECT DISTINCT left(jsonb_object_keys(p.attributes), ${LONGEST_KEY}) AS k FROM points p LIMIT ${MAX_KEYS}) keys)`
    : `'[]'::json`;
  return `
  WITH read AS MATERIALIZED (
    SELECT m.*, ${by(parameters)} AS key FROM sluice.metric_points m WHERE ${allOf(conditions)}
    ORDER BY m.time_unix_nano DESC LIMIT ${most}
  ), points AS MATERIALIZED (
    SELECT m.key, m.attributes, m.time_unix_nano AS time, m.start_time_unix_nano AS start, m.buckets,
      ${finite('coalesce(m.value_int::float8, m.value_double)')} AS value, m.count::float8 AS count, ${finite('m.sum')} AS sum,
      ${finite('m.min')} AS min, ${finite('m.max')} AS max, coalesce(m.temporality, 'cumulative') <> 'delta' AS is_cumulative,
      hashtextextended(concat_ws('|', m.environment, m.service_name, coalesce(encode(m.resource_id, 'hex'), m.resource::text),
        coalesce(encode(m.scope_id, 'hex'), m.scope_name), m.attributes::text), 0) AS stream
    FROM read m
  ), compared AS MATERIALIZED (
    SELECT p.*, ${LAYOUT} AS layout, lag(p.time) OVER w IS NOT NULL AS has_before,
      lag(p.value) OVER w AS value_before, lag(p.count) OVER w AS count_before, lag(p.sum) OVER w AS sum_before,
      lag(${LAYOUT}) OVER w AS layout_before,
      lag(p.time) OVER w IS NOT NULL AND (lag(p.start) OVER w IS DISTINCT FROM p.start OR p.value < lag(p.value) OVER w
        OR p.count < lag(p.count) OVER w) AS is_reset
    FROM points p WINDOW w AS (PARTITION BY p.stream, p.is_cumulative ORDER BY p.time, p.start)
  ), steps AS MATERIALIZED (
    SELECT c.*, c.time / ${ns}::int8 * ${ns}::int8 AS slot, c.time >= ${from}::int8 AS is_shown,
      CASE WHEN NOT c.is_cumulative THEN 'whole' WHEN c.is_reset OR (NOT c.has_before AND c.start >= ${from}::int8 - ${LOOK_BACK_NS}) THEN 'whole'
        WHEN c.has_before THEN 'more' ELSE 'unknown' END AS step
    FROM compared c
  ), ${FORMS[about.form](about.type)}, ranked AS (
    SELECT key, row_number() OVER (ORDER BY sum(abs(weight)) DESC NULLS LAST, key) AS rank FROM slots GROUP BY key
  ), series AS (
    SELECT r.rank, r.key, json_agg(json_build_array(s.slot::text, s.value, s.min, s.max, s.count, s.sum, s.p50, s.p95, s.p99) ORDER BY s.slot) AS points
    FROM ranked r JOIN slots s ON s.key = r.key WHERE r.rank <= ${MAX_SERIES} GROUP BY 1, 2
  )
  SELECT json_build_object('points_examined', (SELECT count(*) FROM read), 'reached', (SELECT min(time)::text FROM points),
    'cut', (SELECT count(*) FROM read) = ${most},
    'resets', ${about.form === 'level' ? '0' : `(SELECT count(*) FROM steps WHERE is_cumulative AND is_reset AND is_shown)`},
    'series_count', (SELECT count(*) FROM ranked), 'attribute_names', ${names},
    'series', coalesce((SELECT json_agg(json_build_object('key', s.key, 'points', s.points) ORDER BY s.rank) FROM series s), '[]'))::text AS answer`;
}

/** Buckets of another layout cannot be compared. */
const LAYOUT = `coalesce(p.buckets ->> 'scale', p.buckets ->> 'explicit_bounds')`;
const NO_QUANTILES = `NULL::float8 AS p50, NULL::float8 AS p95, NULL::float8 AS p99`;

const increase = (name: 'value' | 'count' | 'sum'): string =>
  `CASE c.step WHEN 'whole' THEN c.${name} WHEN 'more' THEN c.${name} - c.${name}_before END`;

/** Each form ends in \`slots\`: one row a series and point in time. */
const FORMS: Readonly<Record<MetricForm, (type: string) => string>> = {
  // The values of gauges are averaged; sums that also fall are added up over their streams. avg() squares its values,
  // so it fails for the largest.
  level: (type) => `ends AS (
    SELECT key, slot, stream, count(value) AS n, min(value) AS min, max(value) AS max,
      (array_agg(value ORDER BY time DESC) FILTER (WHERE value IS NOT NULL))[1] AS last, sum(value) AS total, bool_and(is_cumulative) AS is_cumulative
    FROM steps WHERE is_shown GROUP BY 1, 2, 3
  ), slots AS (
    SELECT key, slot, ${type === 'sum' ? 'sum(CASE WHEN is_cumulative THEN last ELSE total END)' : 'sum(total) / nullif(sum(n), 0)'} AS value,
      min(min) AS min, max(max) AS max, sum(n)::int8 AS count, NULL::float8 AS sum, ${NO_QUANTILES}, max(abs(max)) AS weight
    FROM ends GROUP BY 1, 2
  )`,
  count: () => `slots AS (
    SELECT c.key, c.slot, sum(${increase('value')}) AS value, NULL::float8 AS min, NULL::float8 AS max, count(*) AS count, NULL::float8 AS sum,
      ${NO_QUANTILES}, sum(${increase('value')}) AS weight
    FROM steps c WHERE c.is_shown GROUP BY 1, 2
  )`,
  distribution: () => `parts AS (
    SELECT c.key, c.slot, c.stream, c.time, c.is_cumulative, c.step, c.is_shown, c.has_before AND c.layout IS DISTINCT FROM c.layout_before AS is_other, b.*,
      sum(CASE WHEN c.is_reset OR c.layout IS DISTINCT FROM c.layout_before THEN 1 ELSE 0 END)
        OVER (PARTITION BY c.stream, c.is_cumulative ORDER BY c.time, c.start) AS epoch
    FROM steps c CROSS JOIN LATERAL (${BUCKETS}) b
  ), grown AS (
    SELECT key, slot, lower, upper, is_shown, CASE step WHEN 'whole' THEN n
        WHEN 'more' THEN CASE WHEN is_other THEN NULL ELSE n - coalesce(lag(n) OVER w, 0) END END AS n
    FROM parts WINDOW w AS (PARTITION BY stream, is_cumulative, epoch, lower, upper ORDER BY time)
  ), merged AS (
    SELECT key, slot, lower, upper, sum(n) AS n FROM grown WHERE is_shown AND n > 0 GROUP BY 1, 2, 3, 4
  ), summed AS (
    SELECT *, sum(n) OVER (PARTITION BY key, slot) AS total,
      sum(n) OVER (PARTITION BY key, slot ORDER BY upper NULLS LAST, lower NULLS FIRST ROWS UNBOUNDED PRECEDING) AS upto
    FROM merged
  ), quantiles AS (
    SELECT key, slot, ${QUANTILES.map((q, at) => `(array_agg(${quantile(q)} ORDER BY upto) FILTER (WHERE upto >= ${q} * total))[1] AS q${at}`).join(', ')}
    FROM summed GROUP BY 1, 2
  ), sums AS (
    SELECT c.key, c.slot, sum(${increase('count')}) AS count, sum(${increase('sum')}) AS sum,
      min(c.min) FILTER (WHERE NOT c.is_cumulative) AS min, max(c.max) FILTER (WHERE NOT c.is_cumulative) AS max
    FROM steps c WHERE c.is_shown GROUP BY 1, 2
  ), slots AS (
    SELECT s.key, s.slot, s.sum / nullif(s.count, 0) AS value, s.min, s.max, s.count, s.sum, q.q0 AS p50, q.q1 AS p95, q.q2 AS p99, s.count AS weight
    FROM sums s LEFT JOIN quantiles q ON q.key = s.key AND q.slot = s.slot
  )`,
};

/** A power of two between the smallest and the largest value. */
const power = (exponent: string): string => `power(2::float8, least(greatest(${exponent}, -797), 960))`;

const side = (name: 'positive' | 'negative'): string => {
  const width = `power(2::float8, -least(greatest((c.buckets ->> 'scale')::float8, -20), 40))`;
  const index = `((c.buckets -> '${name}' ->> 'offset')::float8 + e.at - 1)`;
  const near = power(`${index} * ${width}`);
  const far = power(`(${index} + 1) * ${width}`);
  const [lower, upper] = name === 'positive' ? [near, far] : [`-${far}`, `-${near}`];
  return `SELECT ${lower}, ${upper}, e.n::float8
    FROM jsonb_array_elements_text(c.buckets -> '${name}' -> 'bucket_counts') WITH ORDINALITY AS e (n, at) WHERE e.n <> '0'`;
};

/** The buckets that are not empty. Null: without a limit. */
const BUCKETS = `
    SELECT ${finite(`(CASE WHEN e.at > 1 THEN c.buckets -> 'explicit_bounds' ->> (e.at - 2)::int4 END)::float8`)} AS lower,
      ${finite(`(c.buckets -> 'explicit_bounds' ->> (e.at - 1)::int4)::float8`)} AS upper, e.n::float8 AS n
    FROM jsonb_array_elements_text(c.buckets -> 'bucket_counts') WITH ORDINALITY AS e (n, at) WHERE e.n <> '0'
    UNION ALL ${side('negative')}
    UNION ALL SELECT -z.threshold, z.threshold, (c.buckets ->> 'zero_count')::float8
    FROM (SELECT ${finite(`(c.buckets ->> 'zero_threshold')::float8`)} AS threshold) z WHERE c.buckets ->> 'zero_count' <> '0'
    UNION ALL ${side('positive')}`;

/** Evenly within a bucket. The first bucket begins at zero, and the last one is only known to be above its limit. */
const quantile = (q: number): string => `CASE WHEN upper IS NULL THEN lower
      WHEN lower IS NULL AND upper <= 0 THEN upper
      ELSE coalesce(lower, 0) + (upper - coalesce(lower, 0)) * (${q} * total - (upto - n)) / n END`;
