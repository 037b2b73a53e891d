/** Conversations that only log records name, as of command line agents that send no spans. */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { logNs, logPlace } from '../../../pdata/log-time.ts';
import type { RequestReader } from '../server/route.ts';
import { contentJson, finishReasons, nameText, ROOM, roomFor } from './texts.ts';

const STEPS = 100;

/** By an index. */
export const LOG_NS = logNs('l');

/** The log records of a conversation, by the index of its beginning. */
export const logsIn = (conversation: string): string =>
  `l.project = $1::text AND left(l.conversation_id, 128) = left(${conversation}, 128) AND l.conversation_id = ${conversation}`;

/** The columns that a row of the list reads of its spans. `spans`: the condition for the spans of the conversation. */
export const recordsOf = (conversation: string, spans: string): string => `
    SELECT s.trace_id, s.status = 'error' OR s.is_error AS failed, s.start_time_unix_nano AS ns, s.environment, s.user_id
    FROM sluice.spans s WHERE ${spans}
    UNION ALL SELECT l.trace_id, l.is_error, ${LOG_NS}, l.environment, l.user_id FROM sluice.logs l
    WHERE ${logsIn(conversation)} AND NOT EXISTS (SELECT FROM sluice.spans s WHERE ${spans})`;

/** Usage of log records without a trace, each call once. */
export const untracedUsage = (views: string, conversation: string): string => `
    SELECT DISTINCT ON (l.call_key) l.input_tokens, l.output_tokens, l.cache_read_tokens, l.cache_write_tokens, l.reasoning_tokens,
      l.total_cost
    FROM ${views}.usage_logs l WHERE ${logsIn(conversation)} AND l.trace_id IS NULL
    ORDER BY l.call_key, l.total_tokens DESC NULLS LAST, l.total_cost DESC NULLS LAST, l.time_unix_nano, l.standing`;

/** Log records that are a step of the conversation, or a message in it. */
const IS_SAID = `(l.category IN ('model_call', 'tool_step', 'retrieval')
    OR l.category IS NULL AND coalesce(${CONTENT_COLUMNS.map((name) => `l.${name}`).join(', ')}) IS NOT NULL)`;

const stepJson = (seesContent: boolean): string => `json_build_object('trace_id', encode(l.trace_id, 'hex'),
    'span_id', encode(l.span_id, 'hex'), 'parent_span_id', NULL, 'name', coalesce(${nameText('l.event_name')}, 'log record'),
    'category', coalesce(l.category, 'message'), 'start_time_unix_nano', l.ns::text,
    'duration_ns', (l.latency_ms * 1000000)::int8::text, 'error', l.is_error IS TRUE, 'error_type', ${nameText('l.error_type')},
    'model', ${nameText('coalesce(l.response_model, l.request_model)')}, 'provider', ${nameText('l.provider')}, 'agent_name', ${nameText('l.agent_name')},
    'tool_name', ${nameText('l.tool_name')}, 'tool_call_id', ${nameText('l.tool_call_id')}, 'dialect', l.dialect, 'finish_reasons', ${finishReasons('l')},
    'input_tokens', l.input_tokens, 'cache_read_tokens', l.cache_read_tokens, 'output_tokens', l.output_tokens,
    'total_cost', l.total_cost::text, 'counts', l.usage_scope IS NOT DISTINCT FROM 'own'
    ${seesContent ? `, 'content', ${contentJson('l', ROOM)}` : ''})`;

export interface LoggedPage {
  /** A `Turn` without a trace. */
  readonly turn: string;
  /** Time and number of the records that are shown at it, where older ones follow; null at the end. */
  readonly next: readonly [ns: string, shown: string] | null;
}

/**
 * The newest log records before a position, in order of time. `shown`: those at the time of the position. Records of
 * one time are read in the order in which they were stored, so one that arrives between two pages moves no other.
 */
export async function readLoggedTurn(
  reader: RequestReader,
  { project, conversation, seesContent }: { project: string; conversation: string; seesContent: boolean },
  [ns, shown]: readonly [ns: string, shown: string],
): Promise<LoggedPage> {
  const [page] = await reader.prepared(
    `WITH page AS MATERIALIZED (
       SELECT l.*, ${LOG_NS} AS ns, l.tableoid AS place, l.ctid AS at FROM sluice.logs l
       WHERE ${logsIn('$2::text')} AND ${IS_SAID} AND ${LOG_NS} <= $3::int8
       ORDER BY ${LOG_NS} DESC, ${logPlace('l')} OFFSET $4::int4 LIMIT ${STEPS + 1}
     ), shown AS MATERIALIZED (SELECT * FROM page ORDER BY ns DESC, place, at LIMIT ${STEPS}
     ), ${roomFor('(SELECT count(*) FROM shown)')}
     SELECT (SELECT count(*) FROM page) > ${STEPS} AS more, (SELECT min(ns) FROM shown)::text AS ns,
       (SELECT count(*) FROM shown WHERE ns = (SELECT min(ns) FROM shown))::int4 AS at_last,
       (SELECT json_agg(${stepJson(seesContent)} ORDER BY l.ns, l.place, l.at) FROM shown l)::text AS steps`,
    [project, conversation, ns, shown],
  );
  const last = String(page?.['ns']);
  const atLast = Number(page?.['at_last']) + (last === ns ? Number(shown) : 0);
  return {
    turn: `{"trace":null,"steps":${String(page?.['steps'] ?? '[]')},"more_steps":false}`,
    next: page?.['more'] === true ? [last, String(atLast)] : null,
  };
}
