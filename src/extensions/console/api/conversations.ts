/**
 * `GET …/conversations`, in order of their newest trace, or newest log record if no span names them;
 * `…/{conversation}/turns`: the turns of one, newest first.
 */
import { logOrder } from '../../../pdata/log-time.ts';
import { ConsoleError } from '../errors.ts';
import type { Conditions } from '../filter/compile.ts';
import { withUsage } from '../filter/fields.ts';
import { Parameters } from '../filter/parameters.ts';
import { spansOf } from '../filter/trace-spans.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { reachOf, withCompleteness, withOtherDays } from './completeness.ts';
import { spansIn, withNamedTraces } from './conversation-traces.ts';
import { isCount, isStoredTime, isTraceId, type PartCheck, readCursor, writeCursor } from './cursor.ts';
import { LOG_NS, logsIn, readLoggedTurn, recordsOf, untracedUsage } from './logged-conversation.ts';
import { allOf, conditionsOf, END_NS, ENOUGH_MS, environmentCondition, limitOf, rangeOf } from './question.ts';
import { newestBefore } from './search-traces.ts';
import { IS_STEP, stepJson } from './steps.ts';
import { LONGEST_NAME, nameText, roomFor, textJson } from './texts.ts';
import { countedUsage, linesOf, sumsOfUsage, TRACE_JSON, traceJoins } from './trace-rows.ts';

const DEFAULT_LIMIT = 50;
const HIGHEST_LIMIT = 100;
const SLICE = 1000;
const HEAVY_SLICE = 200;
const FIRST_WORDS = 400;
const TURNS = 20;
const STEPS = 100;
/** The position of a log record has no trace. */
const isTraceIdOrNone: PartCheck = (part) => part === '' || isTraceId(part);

/** The address of a conversation's page has the id, so conversations with longer ids have no page. */
const isListed = (id: string): string => `${id} IS NOT NULL AND length(${id}) <= ${LONGEST_NAME}`;

/**
 * The `ConversationRow`s of the ids `$2`, in their order. The calls of all of them are read at once, since each call of
 * the functions of views takes time of its own. A trace that only a log record of the conversation names can have calls
 * of it too. OFFSET 0: to find the first input, the records of the conversation are read and sorted. Otherwise the
 * planner would go through all records of the project in the order of time, and find none if none has input.
 */
const rowsStatement = (views: string, seesContent: boolean): string => `
  WITH facts AS MATERIALIZED (
    SELECT n.at, n.conversation_id, f.* FROM unnest($2::text[]) WITH ORDINALITY n (conversation_id, at) CROSS JOIN LATERAL (
      SELECT count(DISTINCT s.trace_id) AS trace_count, count(*) FILTER (WHERE s.failed) AS error_count,
        min(s.ns) AS first_ns, max(s.ns) AS last_ns, min(s.environment) AS environment,
        (array_agg(${nameText('s.user_id')} ORDER BY s.ns) FILTER (WHERE s.user_id IS NOT NULL))[1] AS user_id,
        array_agg(DISTINCT s.trace_id) FILTER (WHERE s.trace_id IS NOT NULL) AS traces
      FROM (${recordsOf('n.conversation_id', spansIn('n.conversation_id'))}) s
    ) f
  ), calls AS MATERIALIZED (
    SELECT * FROM ${views}.trace_usage_of($1::text, ARRAY(
      SELECT unnest(traces) FROM facts UNION SELECT l.trace_id FROM facts n JOIN sluice.logs l ON ${logsIn('n.conversation_id')}
      WHERE l.trace_id IS NOT NULL))
  ), named AS MATERIALIZED (
    SELECT coalesce(c.conversation_id, o.value) AS conversation_id, c.input_tokens, c.output_tokens, c.cache_read_tokens,
      c.cache_write_tokens, c.reasoning_tokens, c.total_cost
    FROM calls c LEFT JOIN ${views}.owners_of(
      ARRAY(SELECT trace_id FROM calls WHERE conversation_id IS NULL), ARRAY(SELECT span_id FROM calls WHERE conversation_id IS NULL), 'conversation_id') o
      ON c.conversation_id IS NULL AND o.trace_id = c.trace_id AND coalesce(o.span_id, '') = coalesce(c.span_id, '')
    UNION ALL SELECT n.conversation_id, l.* FROM facts n CROSS JOIN LATERAL (${untracedUsage(views, 'n.conversation_id')}) l
  ), sums AS MATERIALIZED (
    SELECT conversation_id, count(*) AS call_count, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
      sum(cache_read_tokens) AS cache_read_tokens, sum(cache_write_tokens) AS cache_write_tokens,
      sum(reasoning_tokens) AS reasoning_tokens, sum(total_cost) AS total_cost,
      count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count
    FROM named GROUP BY 1
  )
  SELECT string_agg(json_build_object('conversation_id', n.conversation_id, 'environment', n.environment, 'user_id', n.user_id,
    'trace_count', n.trace_count, 'error_count', n.error_count, 'first_time_unix_nano', n.first_ns::text,
    'last_time_unix_nano', n.last_ns::text, 'call_count', coalesce(u.call_count, 0), 'input_tokens', u.input_tokens,
    'output_tokens', u.output_tokens, 'cache_read_tokens', u.cache_read_tokens, 'cache_write_tokens', u.cache_write_tokens,
    'reasoning_tokens', u.reasoning_tokens, 'total_cost', u.total_cost::text, 'unpriced_count', coalesce(u.unpriced_count, 0)
    ${seesContent ? `, 'first_input', ${textJson('i.input_content', FIRST_WORDS)}` : ''})::text, E'\\n' ORDER BY n.at) AS items
  FROM facts n LEFT JOIN sums u USING (conversation_id) LEFT JOIN LATERAL (
    (SELECT s.input_content FROM (
       SELECT s.input_content, s.start_time_unix_nano, s.span_id FROM sluice.spans s
       WHERE ${spansIn('n.conversation_id')} AND s.input_content IS NOT NULL OFFSET 0) s
     ORDER BY s.start_time_unix_nano, s.span_id LIMIT 1)
    UNION ALL (SELECT l.input_content FROM (
       SELECT l.input_content, l.time_unix_nano, l.observed_time_unix_nano, l.received_at, l.tableoid, l.ctid FROM sluice.logs l
       WHERE ${logsIn('n.conversation_id')} AND l.input_content IS NOT NULL OFFSET 0) l
     ORDER BY ${logOrder('l')} LIMIT 1) LIMIT 1
  ) i ON true`;

export const listConversations = readRoute(
  `${PROJECT}/conversations`,
  ['q', 'env', 'from', 'to', 'cursor', 'limit', 'archived'],
  async (context) => {
    const { project, query, reader } = context;
    const parameters = new Parameters([project]);
    const conditions = await withNamedTraces(reader, project, conditionsOf(context, 'span', parameters), parameters);
    const traces = [...conditions.trace, ...environmentCondition(context, 't.environment', parameters)];
    const logs = logConditions(context, parameters);
    const question = ['conversations', project, query.get('q') ?? '', query.get('env') ?? ''];
    const { from, until } = rangeOf(context);
    const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
    const started = readCursor(query.get('cursor'), question, [isStoredTime, isStoredTime, isTraceIdOrNone]);
    const first = newestBefore(until);
    const [end = first.ns, ns = first.ns, id = first.id] = started ?? [];
    const text = pageStatement(
      { ...conditions, trace: traces },
      logs,
      (at) => `$${parameters.values.length + at}`,
      reader.views,
    );
    const size = conditions.isHeavy ? HEAVY_SLICE : SLICE;
    const start = performance.now();
    let position: Position | null = { ns, id };
    const ids: string[] = [];
    let examined = 0;
    let reached: string | null = null;
    while (position !== null && ids.length < limit && performance.now() - start < ENOUGH_MS) {
      const own = [String(from), position.ns, Buffer.from(position.id, 'hex'), size, limit - ids.length, end];
      const [page]: readonly Readonly<Record<string, unknown>>[] = await reader.query(text, [
        ...parameters.values,
        ...own,
      ]);
      ids.push(...((page?.['ids'] ?? []) as readonly string[]));
      examined += Number(page?.['examined']);
      const last = page?.['ns'] ?? null;
      reached = last === null ? reached : String(last);
      position = last === null || page?.['is_end'] === true ? null : { ns: String(last), id: String(page?.['id']) };
    }
    const { reply, completeness } = await reachOf(context, {
      ...{ of: 'traces', from, until, isDetailed: true },
      isEnough: (completeFrom) => position !== null && BigInt(position.ns) >= completeFrom,
    });
    if (reply !== null) return reply;
    const items = await readRows(context, ids);
    const next = position === null ? null : writeCursor(question, [end, position.ns, position.id]);
    // Rows are of whole conversations, also of their records outside the range.
    const part = items.length === 0 ? completeness : await withOtherDays(context, { from, until }, completeness);
    const rest = { next, examined, reached, more: next !== null, ...part };
    return jsonText(`{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`);
  },
);

/** The conditions of the question on log records. A filter that they cannot answer finds none. */
function logConditions(context: RequestContext, parameters: Parameters): string {
  try {
    const { row } = conditionsOf(context, 'log', parameters);
    return allOf([...row, ...environmentCondition(context, 'l.environment', parameters)]);
  } catch (error) {
    if (!(error instanceof ConsoleError) || error.code !== 'filter_invalid') throw error;
    return 'false';
  }
}

/** `ConversationRow`s in the order of the ids. */
async function readRows(
  { caller, project, reader }: RequestContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  const [row] = await reader.prepared(rowsStatement(reader.views, caller.seesContent), [project, ids]);
  return linesOf(row?.['items']);
}

interface Position {
  readonly ns: string;
  readonly id: string;
}

/**
 * `place`: lowest time, time and id of the position, size of the slice, limit, and the last time of the range. A
 * conversation is listed at its newest trace that matches; one with such a trace before the position is on an earlier
 * page. One that only log records name is listed at its newest record that matches, which has the id `''`. A page ends
 * where the shorter of both slices ends.
 */
function pageStatement(
  { trace, row: terms, sums, implied }: Conditions,
  logs: string,
  place: (at: number) => string,
  views: string,
): string {
  const position = `(${place(2)}::int8, ${place(3)}::bytea)`;
  const isReached = (ns: string, id: string): string =>
    `((SELECT count(*) FROM floor) = 0 OR (${ns}, ${id}) >= (SELECT ns, id FROM floor))`;
  return `
  WITH slice AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, t.created_at FROM sluice.traces t
    WHERE t.project = $1::text AND t.first_ns >= ${place(1)}::int8 AND (t.first_ns, t.trace_id) < ${position} AND ${allOf(trace)}
    ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${place(4)}::int4
  ), ${sumsOfUsage(views, '$1::text', 'slice')}, said AS MATERIALIZED (
    SELECT l.conversation_id, ${LOG_NS} AS ns FROM sluice.logs l
    WHERE l.project = $1::text AND ${isListed('l.conversation_id')} AND ${LOG_NS} >= ${place(1)}::int8
      AND ${LOG_NS} <= ${place(2)}::int8 AND (${LOG_NS}, ''::bytea) < ${position} AND ${logs}
    ORDER BY ${LOG_NS} DESC FETCH FIRST (${place(4)}::int4) ROWS WITH TIES
  ), floor AS MATERIALIZED (
    SELECT ns, id FROM (
      SELECT first_ns AS ns, trace_id AS id, (SELECT count(*) FROM slice) >= ${place(4)}::int4 AS is_full FROM (
        SELECT first_ns, trace_id FROM slice ORDER BY first_ns, trace_id LIMIT 1) lowest
      UNION ALL SELECT min(ns), ''::bytea, count(*) >= ${place(4)}::int4 FROM said
    ) ends WHERE is_full ORDER BY ns DESC, id DESC LIMIT 1
  ), named AS MATERIALIZED (
    SELECT DISTINCT ON (c.conversation_id) c.conversation_id, t.first_ns, t.trace_id FROM slice t CROSS JOIN LATERAL (
      SELECT DISTINCT s.conversation_id FROM sluice.spans s WHERE ${spansOf('s', `>= ${place(1)}::int8`)} AND ${isListed('s.conversation_id')} AND ${allOf(terms)}
    ) c WHERE ${isReached('t.first_ns', 't.trace_id')} AND ${allOf([...implied, ...withUsage(sums, views, 'usage_sums')])}
    ORDER BY c.conversation_id, t.first_ns DESC, t.trace_id DESC
  ), logged AS MATERIALIZED (
    SELECT conversation_id, max(ns) AS first_ns, ''::bytea AS trace_id FROM said WHERE ${isReached('ns', "''::bytea")} GROUP BY 1
  ), listed AS MATERIALIZED (
    SELECT * FROM (
      SELECT n.* FROM named n WHERE NOT EXISTS (
        SELECT FROM sluice.spans s JOIN sluice.traces t ON t.trace_id = s.trace_id AND t.project = s.project
        WHERE ${spansIn('n.conversation_id')} AND s.start_time_unix_nano >= ${place(2)}::int8
          AND (t.first_ns, t.trace_id) >= ${position} AND t.first_ns <= ${place(6)}::int8
          AND ${allOf([...trace, ...implied, ...terms, ...sums])} OFFSET 0)
      UNION ALL
      SELECT n.* FROM logged n WHERE NOT EXISTS (SELECT FROM sluice.spans s WHERE ${spansIn('n.conversation_id')})
        AND NOT EXISTS (
          SELECT FROM sluice.logs l WHERE ${logsIn('n.conversation_id')} AND (${LOG_NS}, ''::bytea) >= ${position}
            AND ${LOG_NS} <= ${place(6)}::int8 AND ${logs} OFFSET 0)
    ) n ORDER BY n.first_ns DESC, n.trace_id DESC FETCH FIRST (${place(5)}::int4) ROWS WITH TIES
  ), last AS (
    SELECT first_ns, trace_id FROM listed WHERE (SELECT count(*) FROM listed) >= ${place(5)}::int4
    UNION ALL SELECT ns, id FROM floor WHERE (SELECT count(*) FROM listed) < ${place(5)}::int4
    UNION ALL SELECT first_ns, trace_id FROM slice
    WHERE (SELECT count(*) FROM listed) < ${place(5)}::int4 AND (SELECT count(*) FROM floor) = 0
    ORDER BY first_ns, trace_id LIMIT 1
  )
  SELECT (SELECT first_ns FROM last) AS ns, (SELECT encode(trace_id, 'hex') FROM last) AS id,
    (SELECT count(*) FROM slice, last l WHERE (slice.first_ns, slice.trace_id) >= (l.first_ns, l.trace_id))::int4 AS examined,
    (SELECT count(*) FROM floor) = 0 AND (SELECT count(*) FROM listed) < ${place(5)}::int4 AS is_end,
    ARRAY(SELECT conversation_id FROM listed ORDER BY first_ns DESC, trace_id DESC) AS ids`;
}

/** The outermost times of the traces of a conversation. A trace that begins later arrived after they were read. */
const OF_TURNS = 'BETWEEN $5::int8 AND $6::int8';

/** The steps of the traces `shown`. */
const STEPS_SHOWN = `(SELECT count(*) FROM shown t CROSS JOIN LATERAL (
  SELECT FROM sluice.spans s WHERE ${spansOf('s', OF_TURNS)} AND ${IS_STEP} LIMIT ${STEPS}) s)`;

/** Content is a field of the steps. */
const turnJson = (seesContent: boolean): string => `json_build_object('trace', ${TRACE_JSON},
    'steps', coalesce((SELECT json_agg(${stepJson(seesContent)} ORDER BY s.start_time_unix_nano, s.span_id) FROM (
      SELECT * FROM sluice.spans s WHERE ${spansOf('s', OF_TURNS)} AND ${IS_STEP} ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${STEPS}) s), '[]'),
    'more_steps', (SELECT count(*) FROM sluice.spans s WHERE ${spansOf('s', OF_TURNS)} AND ${IS_STEP}) > ${STEPS})`;

export const listTurns = readRoute(
  `${PROJECT}/conversations/{conversation}/turns`,
  ['cursor', 'archived'],
  async (context: RequestContext) => {
    const { caller, project, query, reader } = context;
    const conversation = context.parameter('conversation');
    const question = ['turns', project, conversation];
    const [known] = await reader.query(
      `SELECT min(s.first)::text AS first_span, min(t.first_ns) AS lowest, max(t.last_ns) AS highest,
       (SELECT min(${LOG_NS}) FROM sluice.logs l WHERE ${logsIn('$2::text')})::text AS first_log
     FROM (SELECT s.trace_id, min(s.start_time_unix_nano) AS first FROM sluice.spans s WHERE ${spansIn('$2::text')} GROUP BY 1) s
     LEFT JOIN sluice.traces t ON t.trace_id = s.trace_id AND t.project = $1::text`,
      [project, conversation],
    );
    const [firstSpan, firstLog] = ['first_span', 'first_log'].map((name) => (known?.[name] ?? null) as string | null);
    const first = firstSpan ?? firstLog ?? null;
    const { reply, completeness } = await reachOf(context, {
      ...{ of: 'conversation', from: 0n, until: END_NS, isDetailed: true, conversation },
      // A conversation can be resumed after any time, so any archived day may have a part of it.
      isEnough: () => false,
    });
    if (reply !== null) return reply;
    const hasSpans = firstSpan !== null;
    if (first === null) throw new ConsoleError('not_found');
    const parts = [isStoredTime, hasSpans ? isTraceId : isCount];
    const newest = newestBefore(END_NS);
    const [ns = newest.ns, id = newest.id] = readCursor(query.get('cursor'), question, parts) ?? [];
    const [summary = ''] = await readRows(context, [conversation]);
    if (!hasSpans) {
      const of = { project, conversation, seesContent: caller.seesContent };
      const { turn, next } = await readLoggedTurn(reader, of, [ns, id === newest.id ? '0' : id]);
      const cursor = next === null ? null : writeCursor(question, next);
      const text = `{"conversation":${summary},"items":[${turn}],"next":${JSON.stringify(cursor)}}`;
      return jsonText(withCompleteness(text, completeness));
    }
    const [page] = await reader.query(
      `WITH page AS MATERIALIZED (
       SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
       WHERE t.project = $1::text AND (t.first_ns, t.trace_id) < ($3::int8, $4::bytea)
         AND t.first_ns <= $6::int8
         AND t.trace_id IN (SELECT s.trace_id FROM sluice.spans s WHERE ${spansIn('$2::text')} AND s.start_time_unix_nano ${OF_TURNS})
       ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${TURNS + 1}
     ), shown AS MATERIALIZED (SELECT * FROM page ORDER BY first_ns DESC, trace_id DESC LIMIT ${TURNS}
     ), ${countedUsage(reader.views, 'ARRAY(SELECT trace_id FROM shown)')}, ${roomFor(STEPS_SHOWN)}
     SELECT (SELECT count(*) FROM page) > ${TURNS} AS more,
       (SELECT first_ns || ' ' || encode(trace_id, 'hex') FROM shown ORDER BY first_ns, trace_id LIMIT 1) AS last,
       (SELECT string_agg(${turnJson(caller.seesContent)}::text, E'\\n' ORDER BY t.first_ns DESC, t.trace_id DESC)
        FROM shown t ${traceJoins(OF_TURNS)}) AS items`,
      [project, conversation, ns, Buffer.from(id, 'hex'), known?.['lowest'], known?.['highest']],
    );
    const next = page?.['more'] === true ? writeCursor(question, String(page['last']).split(' ')) : null;
    const text = `{"conversation":${summary},"items":[${linesOf(page?.['items']).join(',')}],"next":${JSON.stringify(next)}}`;
    return jsonText(withCompleteness(text, completeness));
  },
);
