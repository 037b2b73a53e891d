/**
 * One stored conversation: its model calls across traces, each with the messages that are new in it. Calls repeat the
 * history, so that a call is compared with those before it.
 */
import type { Message } from '../../messages/message.ts';
import { CallHistory } from '../../messages/new-messages.ts';
import { type ContentRow, readRecord } from '../../messages/read-record.ts';
import { UserError } from '../../errors.ts';
import { countOf, type Reader, type Row, textOf } from '../reader.ts';
import { contentList } from './trace-content.ts';

export interface Key {
  readonly project: string;
  readonly conversationId: string;
}

export interface CallRow {
  readonly trace_id: string;
  readonly span_id: string;
  readonly name: string;
  readonly environment: string;
  readonly start_time_unix_nano: string;
  readonly duration_ns: string | null;
  /** The model that answered, or else the requested model. */
  readonly model: string | null;
  readonly agent_name: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly total_cost: string | null;
  readonly is_error: boolean | null;
}

export interface Turn {
  readonly call: CallRow;
  /** Those that no call before it has, and the answer. */
  readonly messages: readonly Message[];
  /** Messages that a call before it has. */
  readonly repeated: number;
  readonly hasContent: boolean;
  /** A span that reports the same call as the one before it, of another library. */
  readonly isRepeat: boolean;
}

const SHOWN_CANDIDATES = 5;
/** Calls that are fetched at once, and the length of one column of them. */
const AT_ONCE = 8;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Every project with a trace, by jumps in the index. */
const PROJECTS = `WITH RECURSIVE p AS (
    SELECT min(project) AS name FROM sluice.traces
    UNION ALL SELECT (SELECT min(project) FROM sluice.traces WHERE project > p.name) FROM p WHERE p.name IS NOT NULL
  ) SELECT name FROM p WHERE name IS NOT NULL AND ($2::text IS NULL OR name = $2)`;

/** By the whole id, which has an index, or else by a prefix of it, which reads every span. */
export async function findConversation(reader: Reader, id: string, project: string | null): Promise<Key> {
  const found = async (condition: string): Promise<readonly Row[]> =>
    reader.query(
      `SELECT DISTINCT project, conversation_id FROM sluice.spans WHERE project = ANY (ARRAY(${PROJECTS})) AND ${condition}
       ORDER BY 1, 2 LIMIT ${SHOWN_CANDIDATES}`,
      [id, project],
    );
  const whole = await found('left(conversation_id, 128) = left($1::text, 128) AND conversation_id = $1');
  const rows =
    whole.length > 0 ? whole : await found('conversation_id IS NOT NULL AND starts_with(conversation_id, $1)');
  const keys = rows.map((row) => ({ project: String(row['project']), conversationId: String(row['conversation_id']) }));
  const [key, second] = keys;
  if (key === undefined) throw new UserError(`there is no conversation ${id}`, 'See `sluice usage --by conversation`.');
  if (second === undefined) return key;
  const sameId = keys.every(({ conversationId }) => conversationId === key.conversationId);
  const names = keys.map((each) => (sameId ? `--project ${each.project}` : each.conversationId));
  throw new UserError(
    `several conversations begin with ${id}`,
    `Give ${sameId ? 'the project' : 'more of the id'}: ${names.join(', ')}${keys.length === SHOWN_CANDIDATES ? ', …' : ''}`,
  );
}

/** Spans without the id belong to the conversation too where their trace does, and names no other. */
const CALLS = `sluice.spans s
  WHERE s.project = $1 AND s.category = 'model_call' AND (s.conversation_id = $2 OR s.conversation_id IS NULL)
    AND s.trace_id IN (SELECT o.trace_id FROM sluice.spans o
      WHERE o.project = $1 AND left(o.conversation_id, 128) = left($2, 128) AND o.conversation_id = $2)`;

export async function countCalls(reader: Reader, { project, conversationId }: Key): Promise<number> {
  const [row] = await reader.query(`SELECT count(*)::int4 AS calls FROM ${CALLS}`, [project, conversationId]);
  return Number(row?.['calls'] ?? 0);
}

export interface Selection {
  /** The first calls, which are not shown. */
  readonly skipped: number;
  readonly limit: number;
  /** Every message of every call. */
  readonly all: boolean;
}

export async function* readTurns(
  reader: Reader,
  { project, conversationId }: Key,
  { skipped, limit, all }: Selection,
): AsyncGenerator<Turn> {
  const history = new CallHistory();
  for (let at = skipped; at < skipped + limit; at += AT_ONCE) {
    const rows = await reader.query(
      `SELECT encode(s.trace_id, 'hex') AS trace_id, encode(s.span_id, 'hex') AS span_id, left(s.name, 500) AS name, s.environment,
         s.start_time_unix_nano, s.duration_ns, coalesce(s.response_model, s.request_model) AS model, s.agent_name,
         s.input_tokens, s.output_tokens, s.total_cost, s.is_error OR s.status = 'error' AS is_error, ${contentList(MOST_CHARACTERS)}
       FROM ${CALLS} ORDER BY s.start_time_unix_nano, s.trace_id, s.span_id LIMIT $3 OFFSET $4`,
      [project, conversationId, Math.min(AT_ONCE, skipped + limit - at), at],
    );
    for (const row of rows) yield turnOf(row, history, all);
    if (rows.length < AT_ONCE) return;
  }
}

function turnOf(row: Row, history: CallHistory, all: boolean): Turn {
  const { input, answer, repeated, isRepeat } = history.add(readRecord(row as unknown as ContentRow));
  const messages = all ? [...input, ...answer] : [...input.slice(repeated), ...(isRepeat ? [] : answer)];
  const hasContent = input.length + answer.length > 0;
  return { call: callOf(row), messages, repeated, hasContent, isRepeat: isRepeat && !all };
}

function callOf(row: Row): CallRow {
  return {
    trace_id: String(row['trace_id']),
    span_id: String(row['span_id']),
    name: String(row['name']),
    environment: String(row['environment']),
    start_time_unix_nano: String(row['start_time_unix_nano']),
    duration_ns: textOf(row['duration_ns']),
    model: textOf(row['model']),
    agent_name: textOf(row['agent_name']),
    input_tokens: countOf(row['input_tokens']),
    output_tokens: countOf(row['output_tokens']),
    total_cost: textOf(row['total_cost']),
    is_error: row['is_error'] === null ? null : row['is_error'] === true,
  };
}
