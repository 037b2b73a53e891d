/** `GET /tempo/api/search`: the newest traces with a span that a query selects, and some of these spans. */
import { parseExact } from '../../../pdata/exact-json.ts';
import { type FoundTraces, searchTraces } from '../api/search-traces.ts';
import { neededReach, wholeFrom } from '../api/completeness.ts';
import { allOf } from '../api/question.ts';
import type { TraceRow } from '../api/shapes/traces.ts';
import { nameText } from '../api/texts.ts';
import { Parameters } from '../filter/parameters.ts';
import { spansOf } from '../filter/trace-spans.ts';
import { json, type RequestContext } from '../server/route.ts';
import type { AttributeName } from './attributes.ts';
import { compileQuery, comparisonsOf, spanConditions, textOf } from './compile.ts';
import { legacyQuery } from './legacy-query.ts';
import { numberOf, rangeOf, refusingQueries } from './question.ts';
import { parseQuery, type Query } from './traceql.ts';
import { tempoRoute } from './tempo-route.ts';
import { MS_NS } from '../../../pdata/time-units.ts';

const DEFAULT_TRACES = 20;
const MAX_TRACES = 500;
const DEFAULT_SPANS = 3;
const MAX_SPANS = 100;
const LONGEST_VALUE = 1024;

export const searchByQuery = tempoRoute('/search', async (context) => {
  const text = context.query.get('q') || legacyQuery(context.query);
  const limits = {
    traces: numberOf(context, 'limit', DEFAULT_TRACES, MAX_TRACES),
    spans: numberOf(context, 'spss', DEFAULT_SPANS, MAX_SPANS),
  };
  const query = refusingQueries(text, () => parseQuery(text));
  const parameters = new Parameters();
  const conditions = refusingQueries(text, () => compileQuery(query.expression, optionsOf(context, parameters)));
  const shown = refusingQueries(text, () => shownAttributes(context, query));
  const found: FoundTraces = await searchTraces(context.reader, {
    ...{ project: context.project, range: wholeFrom(context, rangeOf(context)), conditions, parameters },
    ...{ after: null, limit: limits.traces, now: () => context.now() },
  });
  const traces = found.items.map((item) => parseExact(item) as TraceRow);
  const { reply } = await neededReach(context, {
    ...{ of: 'traces', ...rangeOf(context), isDetailed: true },
    isEnough: (completeFrom) => found.next !== null && BigInt(found.next.ns) >= completeFrom,
  });
  if (reply !== null) return reply;
  const spans = await readSpans(context, { query, traces, shown, limit: limits.spans });
  return json({
    traces: traces.map((trace) => traceOf(trace, spans.get(trace.trace_id))),
    metrics: { inspectedTraces: found.examined },
  });
});

const optionsOf = ({ caller, reader }: RequestContext, parameters: Parameters) => ({
  ...{ seesContent: caller.seesContent, views: reader.views, parameters },
});

/** What is compared or selected, once each. Grafana has columns for the name and the duration. */
function shownAttributes(context: RequestContext, { expression, selected }: Query): readonly AttributeName[] {
  const attributes = [...comparisonsOf(expression).map(({ attribute }) => attribute), ...selected];
  for (const each of selected) textOf(each, optionsOf(context, new Parameters()));
  const own = attributes.filter(({ scope, name }) => scope !== 'intrinsic' || !OWN_COLUMNS.has(name));
  return [...new Map(own.map((each) => [`${each.scope}.${each.name}`, each])).values()];
}

const OWN_COLUMNS = new Set(['name', 'duration', 'traceDuration', 'trace:id', 'span:id']);

interface SpanQuestion {
  readonly query: Query;
  readonly traces: readonly TraceRow[];
  readonly shown: readonly AttributeName[];
  readonly limit: number;
}

interface MatchedSpans {
  readonly spans: readonly object[];
  readonly matched: number;
}

/** The matching spans of the traces that were found. */
async function readSpans(
  context: RequestContext,
  { query, traces, shown, limit }: SpanQuestion,
): Promise<ReadonlyMap<string, MatchedSpans>> {
  if (traces.length === 0) return new Map();
  const parameters = new Parameters();
  const options = optionsOf(context, parameters);
  const conditions = spanConditions(query.expression, options);
  const values = shown.map((each) => `to_json(left((${textOf(each, options)})::text, ${LONGEST_VALUE}))`);
  const ids = traces.map(({ trace_id: id }) => Buffer.from(id, 'hex'));
  const text = `
    SELECT encode(t.trace_id, 'hex') AS trace_id, m.* FROM sluice.traces t CROSS JOIN LATERAL (
      SELECT count(*) OVER ()::int4 AS matched, encode(s.span_id, 'hex') AS id, ${nameText('s.name')} AS name, s.start_time_unix_nano::text AS start,
        coalesce(s.duration_ns, 0)::text AS duration, json_build_array(${values.join(', ')})::text AS shown
      FROM sluice.spans s WHERE ${spansOf('s', `>= ${parameters.add(String(rangeOf(context).from))}::int8`)} AND ${allOf(conditions)}
      ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${parameters.add(limit)}::int4
    ) m WHERE t.project = ${parameters.text(context.project)} AND t.trace_id = ANY (${parameters.add(ids)}::bytea[])`;
  const rows = await context.reader.query(text, parameters.values);
  const found = new Map<string, { spans: object[]; matched: number }>();
  for (const each of rows) {
    const id = String(each['trace_id']);
    const entry = found.get(id) ?? { spans: [], matched: Number(each['matched']) };
    found.set(id, entry);
    entry.spans.push({
      spanID: each['id'],
      name: each['name'],
      startTimeUnixNano: each['start'],
      durationNanos: each['duration'],
      attributes: attributesOf(shown, parseExact(String(each['shown'])) as readonly (string | null)[]),
    });
  }
  return found;
}

function attributesOf(shown: readonly AttributeName[], values: readonly (string | null)[]): readonly object[] {
  return shown.flatMap(({ name, field }, index) => {
    const text = values[index] ?? null;
    return text === null ? [] : [{ key: name, value: writtenValue(text, field.kind === 'number') }];
  });
}

function writtenValue(text: string, isNumber: boolean): object {
  if (!isNumber) return { stringValue: text };
  return text.includes('.') ? { doubleValue: Number(text) } : { intValue: text };
}

function traceOf(trace: TraceRow, matched: MatchedSpans | undefined): object {
  return {
    traceID: trace.trace_id,
    rootServiceName: trace.service ?? '',
    rootTraceName: trace.name ?? '',
    startTimeUnixNano: trace.start_time_unix_nano,
    durationMs: Number(BigInt(trace.duration_ns ?? '0') / MS_NS),
    spanSets: matched === undefined ? [] : [matched],
  };
}
