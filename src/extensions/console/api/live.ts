/** `GET …/live`: server-sent events of new and changed traces that match a filter. */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { withUsage } from '../filter/fields.ts';
import { Parameters } from '../filter/parameters.ts';
import { hasSpan } from '../filter/trace-spans.ts';
import { events, PROJECT, type RequestContext, readRoute, type ServerEvent } from '../server/route.ts';
import type { Changes } from './live-polls.ts';
import { allOf, conditionsOf, environmentCondition, idOf } from './question.ts';
import { sharedStateOf } from './shared-state.ts';
import { SPAN_COUNT } from './spans.ts';
import { readTraceRows, sumsOfUsage } from './trace-rows.ts';

/** The limit of one event; further traces are only named. */
const MAX_ITEMS = 50;
const BEAT_MS = 15_000;
const WATERMARK = /^\d{1,15}$/u;

export const showLive = readRoute(`${PROJECT}/live`, ['q', 'env', 'trace', 'since'], (context) => {
  const watched = context.query.get('trace') ?? '';
  const trace = watched === '' ? null : idOf(watched, 16);
  // A faulty filter is refused before the stream begins.
  const question = rowsQuestion(context);
  return events(streamOf(context, { question, trace }));
});

interface Stream {
  readonly question: Statement;
  /** The open trace, whose number of spans is reported. */
  readonly trace: Buffer | null;
}

async function* streamOf(context: RequestContext, { question, trace }: Stream): AsyncGenerator<ServerEvent> {
  const { headers, query, project, reader, signal } = context;
  // The header is that of a stream which broke, so it is the later one.
  const last = headers['last-event-id'] ?? query.get('since') ?? '';
  const since = WATERMARK.test(last) ? Number(last) : null;
  let lastBeatMs = -Infinity;
  let spans = -1;
  for await (const changes of sharedStateOf(context.people).live.listen({ project, reader, signal, since })) {
    if (signal.aborted) return;
    const id = String(changes.watermark);
    if (changes.isGap) yield { event: 'gap', id, data: '{}' };
    if (changes.traces.length > 0) {
      const data = await rowsOf(context, question, changes);
      if (data !== null) yield { event: 'traces', id, data };
    }
    if (trace !== null && !signal.aborted) {
      const count = await countSpans(context, trace);
      if (count !== spans)
        yield { event: 'trace', data: JSON.stringify({ trace_id: trace.toString('hex'), span_count: count }) };
      spans = count;
    }
    if (performance.now() - lastBeatMs >= BEAT_MS) {
      lastBeatMs = performance.now();
      yield { event: 'beat', id, data: '{}' };
    }
  }
}

/** Null: none of the traces matches. Those of which PostgreSQL has the claim only, as of objects, are counted. */
async function rowsOf(
  { project, reader }: RequestContext,
  { text, values }: Statement,
  { traces, left }: Changes,
): Promise<string | null> {
  const [row] = await reader.query(text, [...values, traces]);
  const matched = Number(row?.['matched']);
  if (matched === 0) return null;
  const items = await readTraceRows(reader, project, row?.['ids'] as readonly Buffer[]);
  const dropped = matched - items.length + left;
  return `{"items":[${items.join(',')}],"dropped":${dropped},"left_out":${String(row?.['others'])}}`;
}

/** The last parameter is the list of traces. */
function rowsQuestion(context: RequestContext): Statement {
  const { project, reader } = context;
  const parameters = new Parameters();
  const { trace, row, sums, implied } = conditionsOf(context, 'span', parameters);
  const some = row.length === 0 ? [] : [hasSpan(allOf(row))];
  const conditions = allOf([
    ...trace,
    ...environmentCondition(context, 't.environment', parameters),
    ...implied,
    ...some,
    ...withUsage(sums, reader.views, 'usage_sums'),
  ]);
  const of = parameters.add(project);
  const text = `
  WITH named AS (SELECT unnest($${parameters.values.length + 1}::bytea[]) AS trace_id), ${sumsOfUsage(reader.views, `${of}::text`, 'named')},
  matching AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
    WHERE t.project = ${of}::text AND t.trace_id = ANY ($${parameters.values.length + 1}::bytea[]) AND t.first_ns IS NOT NULL AND ${conditions}
  ), shown AS MATERIALIZED (SELECT * FROM matching ORDER BY first_ns DESC, trace_id DESC LIMIT ${MAX_ITEMS})
  SELECT (SELECT count(*) FROM matching)::int4 AS matched,
    ARRAY(SELECT trace_id FROM shown ORDER BY first_ns DESC, trace_id DESC) AS ids,
    (SELECT coalesce(json_agg(json_build_array(encode(o.trace_id, 'hex'), o.first_ns::text)), '[]')::text
     FROM (SELECT trace_id, first_ns FROM matching ORDER BY first_ns DESC, trace_id DESC OFFSET ${MAX_ITEMS}) o) AS others`;
  return { text, values: parameters.values };
}

async function countSpans({ project, reader }: RequestContext, trace: Buffer): Promise<number> {
  const of = [project, trace];
  const [times] = await reader.query(
    'SELECT first_ns, last_ns FROM sluice.traces WHERE project = $1::text AND trace_id = $2::bytea',
    of,
  );
  const [row] = await reader.query(SPAN_COUNT, [...of, times?.['first_ns'], times?.['last_ns']]);
  return Number(row?.['spans']);
}
