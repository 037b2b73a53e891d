/** `GET …/conversations`, by their newest trace; `…/{conversation}/turns`: one of them, from the newest. */
import { ConsoleError } from '../errors.ts';
import type { Conditions } from '../filter/compile.ts';
import { withUsage } from '../filter/fields.ts';
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { completenessOf } from './completeness.ts';
import { readCursor, TIME_PART, TRACE_PART, writeCursor } from './cursor.ts';
import { allOf, conditionsOf, environmentCondition, LATEST_NS, limitOf, rangeOf } from './question.ts';
import { IS_STEP, stepJson } from './steps.ts';
import { textJson } from './texts.ts';
import { countedUsage, linesOf, spansOf, sumsOfUsage, TRACE_JOINS, TRACE_JSON } from './trace-rows.ts';

const DEFAULT_LIMIT = 50;
const HIGHEST_LIMIT = 100;
const SLICE = 1000;
const HEAVY_SLICE = 200;
const ENOUGH_MS = 1500;
const FIRST_WORDS = 400;
const TURNS = 20;
const STEPS = 100;

/** The spans of a conversation, by the index of its beginning. */
const spansIn = (conversation: string): string =>
  `s.project = $1::text AND left(s.conversation_id, 128) = left(${conversation}, 128) AND s.conversation_id = ${conversation}`;

/** A `ConversationRow` of a relation `n` with the column `conversation_id`. */
const rowOf = (views: string, seesContent: boolean): string => `
  SELECT json_build_object('conversation_id', n.conversation_id, 'environment', f.environment, 'user_id', f.user_id,
    'trace_count', f.trace_count, 'error_count', f.error_count, 'first_time_unix_nano', f.first_ns::text,
    'last_time_unix_nano', f.last_ns::text, 'call_count', u.call_count, 'input_tokens', u.input_tokens,
    'output_tokens', u.output_tokens, 'cache_read_tokens', u.cache_read_tokens, 'cache_write_tokens', u.cache_write_tokens,
    'reasoning_tokens', u.reasoning_tokens, 'total_cost', u.total_cost::text, 'unpriced_count', u.unpriced_count
    ${seesContent ? `, 'first_input', ${textJson('i.input_content', FIRST_WORDS)}` : ''})::text AS item
  FROM (SELECT 1) one CROSS JOIN LATERAL (
    SELECT count(DISTINCT s.trace_id) AS trace_count, count(*) FILTER (WHERE s.status = 'error' OR s.is_error) AS error_count,
      min(s.start_time_unix_nano) AS first_ns, max(s.start_time_unix_nano) AS last_ns, min(s.environment) AS environment,
      (array_agg(s.user_id ORDER BY s.start_time_unix_nano) FILTER (WHERE s.user_id IS NOT NULL))[1] AS user_id,
      array_agg(DISTINCT s.trace_id) AS traces
    FROM sluice.spans s WHERE ${spansIn('n.conversation_id')}
  ) f CROSS JOIN LATERAL (
    SELECT count(*) AS call_count, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
      sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens,
      sum(c.reasoning_tokens) AS reasoning_tokens, sum(c.total_cost) AS total_cost,
      count(*) FILTER (WHERE c.total_cost IS NULL) AS unpriced_count
    FROM (
      WITH c AS MATERIALIZED (SELECT * FROM ${views}.trace_usage_of($1::text, f.traces))
      SELECT c.*, coalesce(c.conversation_id, o.value) AS owner FROM c LEFT JOIN ${views}.owners_of(
        ARRAY(SELECT trace_id FROM c WHERE conversation_id IS NULL), ARRAY(SELECT span_id FROM c WHERE conversation_id IS NULL), 'conversation_id') o
        ON c.conversation_id IS NULL AND o.trace_id = c.trace_id AND coalesce(o.span_id, '') = coalesce(c.span_id, '')
    ) c WHERE c.owner = n.conversation_id
  ) u LEFT JOIN LATERAL (
    SELECT s.input_content FROM sluice.spans s WHERE ${spansIn('n.conversation_id')} AND s.input_content IS NOT NULL
    ORDER BY s.start_time_unix_nano, s.span_id LIMIT 1
  ) i ON true`;

export const listConversations = readRoute(`${PROJECT}/conversations`, async (context) => {
  const { project, query, reader } = context;
  const parameters = new Parameters([project]);
  const conditions = conditionsOf(context, 'span', parameters);
  const traces = [...conditions.trace, ...environmentCondition(context, 't.environment', parameters)];
  const question = ['conversations', project, query.get('q') ?? '', query.get('env') ?? ''];
  const { from, until } = rangeOf(context);
  const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
  const started = readCursor(query.get('cursor'), question, [TIME_PART, TIME_PART, /^(?:[0-9a-f]{32})?$/u]);
  const [end = String(until), ns = end, id = ''] = started ?? [];
  const text = pageStatement(
    { ...conditions, trace: traces },
    (at) => `$${parameters.values.length + at}`,
    reader.views,
  );
  const size = conditions.isHeavy ? HEAVY_SLICE : SLICE;
  const start = context.now();
  let position: Position | null = { ns, id };
  const ids: string[] = [];
  let examined = 0;
  let reached: string | null = null;
  while (position !== null && ids.length < limit && context.now() - start < ENOUGH_MS) {
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
  const items = await readRows(context, ids);
  const next = position === null ? null : writeCursor(question, [end, position.ns, position.id]);
  const completeness = await completenessOf(context, from);
  const rest = { next, examined, reached, more: next !== null, ...completeness };
  return jsonText(`{"items":[${items.join(',')}],${JSON.stringify(rest).slice(1)}`);
});

/** `ConversationRow`s in the order of the ids. */
async function readRows(
  { caller, project, reader }: RequestContext,
  ids: readonly string[],
): Promise<readonly string[]> {
  const [row] = await reader.prepared(
    `SELECT string_agg(r.item, E'\\n' ORDER BY n.at) AS items FROM unnest($2::text[]) WITH ORDINALITY n (conversation_id, at)
     CROSS JOIN LATERAL (${rowOf(reader.views, caller.seesContent)}) r`,
    [project, ids],
  );
  return linesOf(row?.['items']);
}

interface Position {
  readonly ns: string;
  readonly id: string;
}

/**
 * `place`: lowest time, time and id of the position, size of the slice, limit, and the end of the range. A conversation
 * is listed at its newest trace that matches; one with such a trace before the position is on an earlier page.
 */
function pageStatement({ trace, row: terms, sums }: Conditions, place: (at: number) => string, views: string): string {
  const position = `(${place(2)}::int8, ${place(3)}::bytea)`;
  return `
  WITH slice AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
    WHERE t.project = $1::text AND t.first_ns >= ${place(1)}::int8 AND (t.first_ns, t.trace_id) < ${position} AND ${allOf(trace)}
    ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${place(4)}::int4
  ), ${sumsOfUsage(views, '$1::text', 'slice')}, named AS MATERIALIZED (
    SELECT DISTINCT ON (c.conversation_id) c.conversation_id, t.first_ns, t.trace_id FROM slice t CROSS JOIN LATERAL (
      SELECT DISTINCT s.conversation_id FROM sluice.spans s WHERE ${spansOf('s')} AND s.conversation_id IS NOT NULL AND ${allOf(terms)}
    ) c WHERE ${allOf(withUsage(sums, views, 'usage_sums'))} ORDER BY c.conversation_id, t.first_ns DESC, t.trace_id DESC
  ), listed AS MATERIALIZED (
    SELECT n.* FROM named n WHERE NOT EXISTS (
      SELECT FROM sluice.spans s JOIN sluice.traces t ON t.trace_id = s.trace_id AND t.project = s.project
      WHERE ${spansIn('n.conversation_id')} AND (t.first_ns, t.trace_id) >= ${position} AND t.first_ns < ${place(6)}::int8
        AND ${allOf([...trace, ...terms, ...sums])} OFFSET 0)
    ORDER BY n.first_ns DESC, n.trace_id DESC FETCH FIRST (${place(5)}::int4) ROWS WITH TIES
  ), last AS (
    SELECT first_ns, trace_id FROM listed WHERE (SELECT count(*) FROM listed) >= ${place(5)}::int4
    UNION ALL SELECT first_ns, trace_id FROM slice WHERE (SELECT count(*) FROM listed) < ${place(5)}::int4
    ORDER BY first_ns, trace_id LIMIT 1
  )
  SELECT (SELECT first_ns FROM last) AS ns, (SELECT encode(trace_id, 'hex') FROM last) AS id,
    (SELECT count(*) FROM slice, last l WHERE (slice.first_ns, slice.trace_id) >= (l.first_ns, l.trace_id))::int4 AS examined,
    (SELECT count(*) FROM slice) < ${place(4)}::int4 AND (SELECT count(*) FROM listed) < ${place(5)}::int4 AS is_end,
    ARRAY(SELECT conversation_id FROM listed ORDER BY first_ns DESC, trace_id DESC) AS ids`;
}

/** Content is a field of the steps. */
const turnJson = (seesContent: boolean): string => `json_build_object('trace', ${TRACE_JSON},
    'steps', coalesce((SELECT json_agg(${stepJson(seesContent)} ORDER BY s.start_time_unix_nano, s.span_id) FROM (
      SELECT * FROM sluice.spans s WHERE ${spansOf('s')} AND ${IS_STEP} ORDER BY s.start_time_unix_nano, s.span_id LIMIT ${STEPS}) s), '[]'),
    'more_steps', (SELECT count(*) FROM sluice.spans s WHERE ${spansOf('s')} AND ${IS_STEP}) > ${STEPS})`;

export const listTurns = readRoute(`${PROJECT}/conversations/{conversation}/turns`, async (context: RequestContext) => {
  const { caller, project, query, reader } = context;
  const conversation = context.parameter('conversation').replaceAll('\0', '\u{fffd}');
  const question = ['turns', project, conversation];
  const [ns = String(LATEST_NS), id = ''] = readCursor(query.get('cursor'), question, [TIME_PART, TRACE_PART]) ?? [];
  const known = await reader.query(`SELECT FROM sluice.spans s WHERE ${spansIn('$2::text')} LIMIT 1`, [
    project,
    conversation,
  ]);
  if (known.length === 0) throw new ConsoleError('not_found');
  const [summary = ''] = await readRows(context, [conversation]);
  const [page] = await reader.prepared(
    `WITH page AS MATERIALIZED (
       SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
       WHERE t.project = $1::text AND (t.first_ns, t.trace_id) < ($3::int8, $4::bytea)
         AND t.trace_id IN (SELECT s.trace_id FROM sluice.spans s WHERE ${spansIn('$2::text')})
       ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${TURNS + 1}
     ), shown AS MATERIALIZED (SELECT * FROM page ORDER BY first_ns DESC, trace_id DESC LIMIT ${TURNS}
     ), ${countedUsage(reader.views, 'ARRAY(SELECT trace_id FROM shown)')}
     SELECT (SELECT count(*) FROM page) > ${TURNS} AS more,
       (SELECT first_ns || ' ' || encode(trace_id, 'hex') FROM shown ORDER BY first_ns, trace_id LIMIT 1) AS last,
       (SELECT string_agg(${turnJson(caller.seesContent)}::text, E'\\n' ORDER BY t.first_ns DESC, t.trace_id DESC)
        FROM shown t ${TRACE_JOINS}) AS items`,
    [project, conversation, ns, Buffer.from(id, 'hex')],
  );
  const next = page?.['more'] === true ? writeCursor(question, String(page['last']).split(' ')) : null;
  return jsonText(
    `{"conversation":${summary},"items":[${linesOf(page?.['items']).join(',')}],"next":${JSON.stringify(next)}}`,
  );
});
