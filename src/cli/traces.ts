/** `sluice traces`: stored traces, newest first, one line each. */
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { loadNewest } from './archived-list.ts';
import { findObjectsOptions } from './archive-place.ts';
import { countedUsageOf, TRACE_JOINS } from '../extensions/console/api/trace-rows.ts';
import type { Call, Command, ExitCode } from './command.ts';
import { FILTER_OPTION, filterConditions } from './filter-option.ts';
import { environmentOf, FILTER_OPTIONS, Parameters, traceConditions } from './filters.ts';
import { LAKE_OPTION, withLake } from './lake.ts';
import { limitOption, type Values } from './options.ts';
import { formatAge, formatCost, formatCount, formatTook } from './view/format.ts';
import {
  limitOf,
  type Reader,
  READER_OPTIONS,
  type RowOf,
  shaped,
  sinceOf,
  sumOf,
  textOf,
  withReader,
} from './reader.ts';
import { asJson, cut, padLeft, widthOf } from './view/screen-text.ts';
import { layOut, type Style, type Terminal } from './terminal.ts';

const DEFAULT_LIMIT = 20;
const HIGHEST_LIMIT = 1000;
/** Of 32 digits. `sluice trace` accepts a prefix of an id. */
const ID_DIGITS = 12;
/** Optional columns are left out where a name would get less. */
const SHORTEST_NAME = 32;
const NS_PER_MS = 1_000_000;
/** Places of columns. */
const NAME = 2;
const TOKENS = 5;
const OPTIONAL = new Set(['SERVICE', 'USER']);
const FOLLOW_MS = 1_000;
/** The longest transaction that stores a trace, so that `--follow` misses none. */
const COMMIT_SLACK_US = 30_000_000n;

const ARRIVED_US = '(extract(epoch FROM t.created_at) * 1000000)::int8';
/** The start of a trace; for log records alone, their arrival. */
const TIME_NS = `coalesce(t.first_ns, ${ARRIVED_US} * 1000)`;
const HAS_ERROR = `EXISTS (SELECT FROM sluice.spans s WHERE s.project = t.project AND s.trace_id = t.trace_id
        AND s.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns AND (s.status = 'error' OR s.is_error))`;

/** Without it a claim is listed whose records have expired, or are stored elsewhere. */
const HAS_RECORDS = `(EXISTS (SELECT FROM sluice.spans s WHERE s.project = t.project AND s.trace_id = t.trace_id
        AND s.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns)
      OR EXISTS (SELECT FROM sluice.logs l WHERE l.project = t.project AND l.trace_id = t.trace_id))`;

/** Every project with traces, or the one that the parameter names. */
const projects = (of: string): string => `
    WITH RECURSIVE p AS (
      SELECT min(project) AS name FROM sluice.traces
      UNION ALL SELECT (SELECT min(project) FROM sluice.traces WHERE project > p.name) FROM p WHERE p.name IS NOT NULL
    ) SELECT name FROM p WHERE name IS NOT NULL AND (${of}::text IS NULL OR name = ${of}::text)`;

/** Traces in the order of their arrival, by its index. */
const arrivedOf = (conditions: string, limit: string): string => `
    SELECT t.*, ${TIME_NS} AS time_ns, ${ARRIVED_US} AS arrived_us FROM sluice.traces t WHERE ${conditions}
    ORDER BY t.created_at, t.trace_id LIMIT ${limit}`;

/**
 * The newest traces of each project, by the index of their starts: a filter is then asked of as many traces as it takes
 * to fill the list. Traces of log records alone have no start.
 */
const newestOf = (projects: string, since: string, conditions: string, limit: string): string => {
  const those = (start: string, time: string): string => `(
        SELECT t.*, ${time} AS time_ns, ${ARRIVED_US} AS arrived_us FROM sluice.traces t
        WHERE t.project = p.name AND t.first_ns IS ${start} AND ${time} >= ${since} AND ${conditions}
        ORDER BY ${time} DESC, t.trace_id DESC LIMIT ${limit})`;
  return `
    SELECT n.* FROM (${projects}) p CROSS JOIN LATERAL (
      ${those('NOT NULL', 't.first_ns')} UNION ALL ${those('NULL', `${ARRIVED_US} * 1000`)}
    ) n ORDER BY time_ns DESC, trace_id DESC LIMIT ${limit}`;
};

/** The rows of the console, of these traces `t`. */
const question = (views: string, newest: string, order: string): string => `
  WITH newest AS MATERIALIZED (${newest}), ${countedUsageOf(views, 'newest')}
  SELECT encode(t.trace_id, 'hex') AS trace_id, t.project, t.environment, t.time_ns,
    coalesce(f.start_ns, t.first_ns) AS start_time_unix_nano, CASE WHEN r.is_root THEN r.name END AS root_name, r.name AS first_name,
    f.span_count, f.error_count, f.model_call_count, f.duration_ns, t.arrived_us, r.service_name, i.user_id,
    u.input_tokens, u.output_tokens, u.total_cost
  FROM newest t ${TRACE_JOINS}
  ORDER BY ${order}`;

const TRACE_ROW = {
  trace_id: String,
  project: String,
  environment: String,
  /** The start of the trace; for log records alone, their arrival. */
  time_ns: String,
  start_time_unix_nano: textOf,
  root_name: textOf,
  first_name: textOf,
  duration_ns: textOf,
  span_count: Number,
  error_count: Number,
  model_call_count: Number,
  input_tokens: sumOf,
  output_tokens: sumOf,
  total_cost: textOf,
  /** Of the root, or of the earliest span. */
  service_name: textOf,
  user_id: textOf,
  /** When the first record arrived, in microseconds; the order of `--follow`. */
  arrived_us: String,
};
type TraceRow = RowOf<typeof TRACE_ROW>;

export const tracesCommand: Command = {
  description:
    'ERRORS counts failed spans, as the console and the view `traces` do: a failed call and the agent that failed because\nof it are two. `sluice usage --errors` counts failed calls.',
  options: {
    ...READER_OPTIONS,
    ...FILTER_OPTIONS,
    ...FILTER_OPTION,
    ...LAKE_OPTION,
    'min-cost': { type: 'text', value: 'AMOUNT', description: 'Only traces that cost at least this' },
    search: { type: 'text', value: 'TEXT', description: 'Only traces with this text in a name or in content' },
    since: { type: 'text', value: 'DURATION', description: 'Only traces of the last 30m, 12h or 7d' },
    errors: { type: 'flag', description: 'Only those with an error' },
    follow: { type: 'flag', short: 'f', description: 'Print new traces as they arrive, until Ctrl-C' },
    limit: limitOption('The maximum number of traces', DEFAULT_LIMIT),
  },
  examples: [
    ['sluice traces --since 1h', 'traces of the last hour'],
    ['sluice traces --errors --project shop', 'failed traces of one project'],
    ['sluice traces --user u-1 --search refund', 'traces of one user with a word in them'],
    ["sluice traces --filter 'model:gpt-5* duration:>2s -service:worker'", 'traces with a span that matches all terms'],
    ['sluice traces --follow --min-cost 0.05', 'expensive traces as they arrive'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const nowMs = Date.now();
    const since = sinceOf(values, nowMs);
    const limit = limitOf(values, HIGHEST_LIMIT);
    return withReader(call, async (reader) => {
      if (values.flag('follow')) {
        refuseUnfollowed(reader.config);
        return follow(reader, call);
      }
      const columns = values.flag('search') || values.flag('filter') ? 'all' : 'figures';
      return withLake<ExitCode>(call, reader, { columns }, async (lake) => {
        const read = () => readTraces(lake?.reader ?? reader, values, { since, limit });
        const project = values.text('project') ?? null;
        const readTimes = async () => (await read()).map(({ time_ns }) => BigInt(time_ns));
        if (lake !== null) await loadNewest(lake, { project, since, limit }, readTimes);
        const rows = await read();
        const isUnread = lake !== null && lake.unread !== null;
        if (values.flag('json')) terminal.print(asJson(rows.map(asData)));
        else if (rows.length === 0 && isUnread)
          terminal.print('No traces in PostgreSQL match, and others are not read.');
        else terminal.print(describe(rows, terminal, nowMs));
        return 0;
      });
    });
  },
};

/** Records of objects are not followed. */
function refuseUnfollowed(config: Config): void {
  const isStored = config.service.pipelines.some(
    ({ signal, exporters }) =>
      signal !== 'metrics' && exporters.some((id) => config.exporters.get(id)?.definition.type === 'postgres'),
  );
  if (isStored || findObjectsOptions(config) === null) return;
  throw new UserError(
    'this configuration stores traces in objects only, and --follow shows what arrives in PostgreSQL',
    'See requests as they arrive with `sluice tap`, and stored traces with `sluice traces`.',
  );
}

/** Prints what arrives from now on, and never returns. */
async function follow(reader: Reader, { values, terminal }: Call): Promise<never> {
  const [now] = await reader.query('SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::int8 AS us');
  let fromUs = BigInt(String(now?.['us']));
  /** Printed traces that the next poll would find again, with their arrival. */
  const printed = new Map<string, bigint>();
  let columns = '';
  const print = (rows: readonly TraceRow[]): void => {
    if (values.flag('json')) for (const row of rows) terminal.print(asJson(asData(row)).replace(/\n\s*/gu, ''));
    else if (rows.length > 0) {
      const text = describe(rows, terminal, Date.now());
      const end = text.indexOf('\n');
      const names = text.slice(0, end).replace(/ +/gu, ' ');
      terminal.print(names === columns ? text.slice(end + 1) : text);
      columns = names;
    }
  };
  terminal.say('Waiting for new traces.');
  for (;;) {
    let place: Place | null = { arrived_us: String(fromUs), trace_id: '' };
    const except = [...printed.keys()];
    let newestUs = fromUs;
    while (place !== null) {
      const rows = await readTraces(reader, values, { since: null, limit: HIGHEST_LIMIT, after: { place, except } });
      print(rows);
      for (const { trace_id, arrived_us } of rows) {
        newestUs = BigInt(arrived_us);
        printed.set(trace_id, newestUs);
      }
      place = rows.length < HIGHEST_LIMIT ? null : (rows.at(-1) ?? null);
    }
    // A transaction that began earlier may commit later.
    if (newestUs - COMMIT_SLACK_US > fromUs) fromUs = newestUs - COMMIT_SLACK_US;
    for (const [id, arrivedUs] of printed) if (arrivedUs < fromUs) printed.delete(id);
    await new Promise((wake) => setTimeout(wake, FOLLOW_MS));
  }
}

/** A place in the order of arrival. Many traces may arrive at the same time, so it includes the id. */
type Place = Pick<TraceRow, 'arrived_us' | 'trace_id'>;

interface Range {
  readonly since: string | null;
  readonly limit: number;
  /** In order of arrival, those after this place, without the traces with these ids. */
  readonly after?: { readonly place: Place; readonly except: readonly string[] };
}

/** `created_at` is compared without an expression around it, so that its index is used. */
function arrivedAfter({ place, except }: NonNullable<Range['after']>, parameters: Parameters): readonly string[] {
  const [time, id] = [parameters.add(place.arrived_us), parameters.add(place.trace_id)];
  return [
    `(t.created_at, t.trace_id) > ('epoch'::timestamptz + ${time}::int8 * interval '1 microsecond', decode(${id}, 'hex'))`,
    `t.trace_id <> ALL (ARRAY(SELECT decode(id, 'hex') FROM unnest(${parameters.add(except)}::text[]) AS id))`,
  ];
}

/** The condition, if the value is given. */
function optional(value: string | null | undefined, condition: (value: string) => string): readonly string[] {
  return value === null || value === undefined ? [] : [condition(value)];
}

async function readTraces(
  reader: Reader,
  values: Values,
  { since, limit, after }: Range,
): Promise<readonly TraceRow[]> {
  const parameters = new Parameters();
  const of = parameters.add(values.text('project') ?? null);
  const conditions = [
    `(${of}::text IS NULL OR t.project = ${of}::text)`,
    ...optional(environmentOf(values), (value) => `t.environment = ${parameters.add(value)}::text`),
    ...(after === undefined ? [] : arrivedAfter(after, parameters)),
    ...(values.flag('errors') ? [HAS_ERROR] : []),
    ...traceConditions(values, parameters, reader.views),
    ...filterConditions(values, parameters.values, reader.views),
    HAS_RECORDS,
  ];
  const [all, most] = [conditions.join('\n      AND '), parameters.add(limit)];
  const text =
    after === undefined
      ? question(
          reader.views,
          newestOf(projects(of), `${parameters.add(since ?? '0')}::int8`, all, most),
          'time_ns DESC, t.trace_id DESC',
        )
      : question(reader.views, arrivedOf(all, most), 't.created_at, t.trace_id');
  return (await reader.query(text, parameters.values)).map((row) => shaped(TRACE_ROW, row));
}

/** The column names of the view `traces`. */
function asData({ time_ns: _time, first_name: _name, arrived_us: _arrived, ...row }: TraceRow) {
  return row;
}

function describe(rows: readonly TraceRow[], terminal: Terminal, nowMs: number): string {
  if (rows.length === 0) return 'No traces match. `sluice demo` sends an example.';
  const { style } = terminal;
  const head = ['AGE', 'TRACE', 'NAME', 'SPANS', 'CALLS', 'TOKENS', 'COST', 'TOOK', 'ERRORS'];
  const cells = [head, ...rows.map((row) => cellsOf(row, style, nowMs))];
  const [first = [], ...others] = fitNames(cells, extraColumns(rows), terminal.width);
  return layOut([
    first.map(style.dim),
    ...others.map((row) => row.map((cell, at) => (at === NAME ? style.bold(cell) : cell))),
  ]);
}

function cellsOf(row: TraceRow, style: Style, nowMs: number): readonly string[] {
  return [
    formatAge(nowMs - Number(row.time_ns) / NS_PER_MS),
    row.trace_id.slice(0, ID_DIGITS),
    nameOf(row),
    String(row.span_count),
    row.model_call_count === 0 ? '' : String(row.model_call_count),
    row.input_tokens === null && row.output_tokens === null
      ? ''
      : `${formatCount(row.input_tokens)} → ${formatCount(row.output_tokens)}`,
    row.total_cost === null ? '' : formatCost(row.total_cost),
    formatTook(row.duration_ns),
    row.error_count === 0 ? '' : style.red(String(row.error_count)),
  ];
}

/** Columns that distinguish the rows, the most useful first. Each is its head and a cell for each row. */
function extraColumns(rows: readonly TraceRow[]): readonly (readonly string[])[] {
  const column = (head: string, widest: number, of: (row: TraceRow) => string | null): readonly string[] => [
    head,
    ...rows.map((row) => cut(of(row) ?? '', widest)),
  ];
  const columns = [
    column('PROJECT', 63, ({ project }) => project),
    column('ENVIRONMENT', 24, ({ environment }) => environment),
    column('SERVICE', 24, ({ service_name }) => service_name),
    column('USER', 24, ({ user_id }) => user_id),
  ];
  return columns.filter(([, ...cells]) => new Set(cells).size > 1);
}

/** A trace without its root is named by its earliest span. */
function nameOf({ root_name, first_name }: TraceRow): string {
  if (root_name !== null) return root_name;
  return first_name === null ? '(logs only)' : `… ${first_name}`;
}

/** Names get the width that the other columns leave; numbers are right-aligned. */
function fitNames(
  rows: readonly (readonly string[])[],
  extra: readonly (readonly string[])[],
  width: number,
): readonly (readonly string[])[] {
  const whole = rows.map((row, at) => [...row, ...extra.map((column) => column[at] ?? '')]);
  const others = whole.map((row) => row.map((cell, at) => (at === NAME ? '' : cell)));
  const taken = Math.max(0, ...layOut(others).split('\n').map(widthOf));
  // Columns that distinguish projects and environments always stay.
  const optional = extra.filter(([head = '']) => OPTIONAL.has(head));
  if (width - taken < SHORTEST_NAME && optional.length > 0)
    return fitNames(
      rows,
      extra.filter((column) => column !== optional.at(-1)),
      width,
    );
  const widest = Math.max(0, ...others.map((row) => row[TOKENS]?.length ?? 0));
  const room = Math.max(SHORTEST_NAME, width - taken);
  return whole.map((row) =>
    row.map((cell, at) => (at === NAME ? cut(cell, room) : at === TOKENS ? padLeft(cell, widest) : cell)),
  );
}
