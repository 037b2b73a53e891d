/**
 * One stored conversation: its model calls across traces, each with the messages that are new in it. Calls repeat the
 * history, so that a call is compared with those before it. Some senders put the conversation or the messages on log
 * records only.
 */
import { CONTENT_COLUMNS } from '../../pdata/content-columns.ts';
import type { FoundTrace } from '../../archive/reading/archived-rows.ts';
import type { Message } from '../../messages/message.ts';
import { CallHistory } from '../../messages/new-messages.ts';
import { type ContentRow, readRecord, type Section } from '../../messages/read-record.ts';
import { logNs } from '../../pdata/log-time.ts';
import { UserError } from '../../errors.ts';
import { countOf, flagOf, type Reader, type Row, type RowOf, shaped, textOf } from '../reader.ts';
import { contentList } from './trace-content.ts';
import { cutText, SHOWN_CANDIDATES } from './trace-record.ts';
import { MODEL } from '../../extensions/console/filter/trace-spans.ts';

export interface Key {
  readonly project: string;
  readonly conversationId: string;
  /** No span has the id. */
  readonly isOfLogs: boolean;
}

const CALL_ROW = {
  signal: (value: unknown) => (value === 'log' ? 'log' : 'span'),
  trace_id: textOf,
  span_id: textOf,
  /** The name of the span, or the event of the log record. */
  name: String,
  environment: String,
  start_time_unix_nano: textOf,
  duration_ns: textOf,
  /** The model that answered, or else the requested model. */
  model: textOf,
  agent_name: textOf,
  input_tokens: countOf,
  output_tokens: countOf,
  total_cost: textOf,
  is_error: flagOf,
};

export interface Turn {
  readonly call: RowOf<typeof CALL_ROW>;
  /** The messages that no call before it has, and the answer. */
  readonly messages: readonly Message[];
  /** Messages that a call before it has. */
  readonly repeated: number;
  readonly hasContent: boolean;
  /** A span that reports the same call as the one before it, of another library. */
  readonly isRepeat: boolean;
}

/** A model call as stored: its span, and the log records that name the span; or log records alone. */
export interface StoredCall {
  readonly span: { readonly traceId: string; readonly spanId: string; readonly startNs: string } | null;
  /** The places of its log records in the table, in order of time. */
  readonly logs: readonly string[];
}

/** Calls that are fetched at once, and the length of one column of them. */
const AT_ONCE = 8;
const MOST_CHARACTERS = 4 * 1024 * 1024;

/** Every project with a trace or log records, by jumps in the index. */
const projectsOf = (table: string): string => `WITH RECURSIVE p AS (
    SELECT min(project) AS name FROM sluice.${table}
    UNION ALL SELECT (SELECT min(project) FROM sluice.${table} WHERE project > p.name) FROM p WHERE p.name IS NOT NULL
  ) SELECT name FROM p WHERE name IS NOT NULL AND ($2::text IS NULL OR name = $2)`;

const isWhole = (table: string): string =>
  `left(${table}.conversation_id, 128) = left($1::text, 128) AND ${table}.conversation_id = $1`;
const isPrefix = (table: string): string =>
  `${table}.conversation_id IS NOT NULL AND starts_with(${table}.conversation_id, $1)`;
const inSpans = (condition: string): string =>
  `SELECT project, conversation_id, false AS of_logs FROM sluice.spans s
   WHERE project = ANY (ARRAY(${projectsOf('traces')})) AND ${condition}`;
const inLogs = (condition: string): string =>
  `SELECT project, conversation_id, true AS of_logs FROM sluice.logs l
   WHERE project = ANY (ARRAY(${projectsOf('logs')})) AND ${condition}`;

/** By the whole id of spans, else of log records, which have indexes; else by a prefix, which reads all records. */
export async function findConversation(reader: Reader, id: string, project: string | null): Promise<Key> {
  const searches = [
    inSpans(isWhole('s')),
    inLogs(isWhole('l')),
    `${inSpans(isPrefix('s'))} UNION ALL ${inLogs(isPrefix('l'))}`,
  ];
  for (const search of searches) {
    const rows = await reader.query(
      `SELECT project, conversation_id, bool_and(of_logs) AS of_logs FROM (${search}) AS found
       GROUP BY 1, 2 ORDER BY 1, 2 LIMIT ${SHOWN_CANDIDATES}`,
      [id, project],
    );
    if (rows.length > 0) return onlyOne(id, rows);
  }
  throw new UserError(`there is no conversation ${id}`, 'See `sluice usage --by conversation`.');
}

function onlyOne(id: string, rows: readonly Row[]): Key {
  const keys = rows.map((row) => ({
    project: String(row['project']),
    conversationId: String(row['conversation_id']),
    isOfLogs: row['of_logs'] === true,
  }));
  const [key, second] = keys;
  if (key !== undefined && second === undefined) return key;
  throw refuseSeveral(id, keys);
}

export function refuseSeveral(id: string, keys: readonly Omit<Key, 'isOfLogs'>[]): UserError {
  const sameId = keys.every(({ conversationId }) => conversationId === keys[0]?.conversationId);
  const names = keys.map((each) => (sameId ? `--project ${each.project}` : each.conversationId));
  return new UserError(
    `several conversations begin with ${id}`,
    `Give ${sameId ? 'the project' : 'more of the id'}: ${names.join(', ')}${keys.length === SHOWN_CANDIDATES ? ', …' : ''}`,
  );
}

/** The traces with records of the conversation, each on the first and last day of its claim. */
export async function storedTraces(reader: Reader, id: string, project: string | null): Promise<readonly FoundTrace[]> {
  const dayOf = (ns: string): string => `to_char(to_timestamp(${ns} / 1000000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`;
  const rows = await reader.query(
    `SELECT DISTINCT t.project, encode(t.trace_id, 'hex') AS trace_id, day FROM (
         SELECT s.project, s.trace_id FROM sluice.spans s WHERE s.project = ANY (ARRAY(${projectsOf('traces')})) AND ${isWhole('s')}
         UNION SELECT l.project, l.trace_id FROM sluice.logs l WHERE l.project = ANY (ARRAY(${projectsOf('logs')})) AND ${isWhole('l')}
       ) r JOIN sluice.traces t ON t.trace_id = r.trace_id AND t.project = r.project,
       unnest(ARRAY[${dayOf('t.first_ns')}, ${dayOf('t.last_ns')}]) AS day
     WHERE t.first_ns IS NOT NULL`,
    [id, project],
  );
  return rows.map((row) => ({
    project: String(row['project']),
    traceId: String(row['trace_id']),
    day: String(row['day']),
  }));
}

/** The place of a log record, which has no id, and the columns that order records of one time. */
const PLACE = "l.tableoid || ' ' || l.ctid AS place, l.tableoid AS place_table, l.ctid AS place_row";
const LOG_TIME = logNs('l');
/** Log records that are a call, or a message of one. */
const IS_SAID = `(l.category = 'model_call' OR l.category IS NULL AND coalesce(${CONTENT_COLUMNS.map((name) => `l.${name}`).join(', ')}) IS NOT NULL)`;

/**
 * Spans and log records without the id belong to the conversation too where their trace does, and names no other. A log
 * record belongs to the call of the span that it names. Log records are searched by the id only if no span has it.
 * In tables without statistics, a join would compare each span of the project with each trace: the traces are an array,
 * which the index of ids reads, and `IS TRUE` hides the index of projects.
 */
const CALLS = `
  WITH traces AS MATERIALIZED (
    SELECT o.trace_id FROM sluice.spans o
    WHERE o.project = $1 AND left(o.conversation_id, 128) = left($2, 128) AND o.conversation_id = $2
    UNION SELECT l.trace_id FROM sluice.logs l
    WHERE $3::bool AND l.project = $1 AND left(l.conversation_id, 128) = left($2, 128) AND l.conversation_id = $2 AND l.trace_id IS NOT NULL
  ), calls AS MATERIALIZED (
    SELECT s.trace_id, s.span_id, s.start_time_unix_nano AS ns FROM sluice.spans s
    WHERE (s.project = $1) IS TRUE AND s.category = 'model_call' AND (s.conversation_id = $2 OR s.conversation_id IS NULL)
      AND s.trace_id = ANY (ARRAY(SELECT trace_id FROM traces))
  ), records AS MATERIALIZED (
    SELECT l.trace_id, l.span_id, ${LOG_TIME} AS ns, ${PLACE} FROM sluice.logs l
    WHERE (l.project = $1) IS TRUE AND l.trace_id = ANY (ARRAY(SELECT trace_id FROM traces))
      AND (l.conversation_id = $2 OR l.conversation_id IS NULL) AND ${IS_SAID}
    UNION ALL
    SELECT NULL, NULL, ${LOG_TIME}, ${PLACE} FROM sluice.logs l
    WHERE $3::bool AND l.project = $1 AND left(l.conversation_id, 128) = left($2, 128) AND l.conversation_id = $2
      AND l.trace_id IS NULL AND ${IS_SAID}
  )
  SELECT encode(c.trace_id, 'hex') AS trace_id, encode(c.span_id, 'hex') AS span_id, c.ns AS start_ns,
    min(coalesce(c.ns, r.ns)) AS ns,
    array_agg(r.place ORDER BY r.ns, r.place_table, r.place_row) FILTER (WHERE r.place IS NOT NULL) AS logs
  FROM calls c FULL JOIN records r ON r.trace_id = c.trace_id AND r.span_id = c.span_id
  GROUP BY c.trace_id, c.span_id, c.ns,
    CASE WHEN c.ns IS NULL THEN coalesce(encode(r.trace_id, 'hex') || encode(r.span_id, 'hex'), r.place) END
  ORDER BY ns, 1, 2, min(r.place_table), min(r.place_row)`;

/** Every call of the conversation, in order of time. */
export async function listCalls(
  reader: Reader,
  { project, conversationId, isOfLogs }: Key,
): Promise<readonly StoredCall[]> {
  const rows = await reader.query(CALLS, [project, conversationId, isOfLogs]);
  return rows.map((row) => ({
    span:
      row['start_ns'] === null
        ? null
        : { traceId: String(row['trace_id']), spanId: String(row['span_id']), startNs: String(row['start_ns']) },
    logs: (row['logs'] ?? []) as readonly string[],
  }));
}

/** `all`: every message of every call. */
export async function* readTurns(
  reader: Reader,
  { project }: Key,
  calls: readonly StoredCall[],
  all: boolean,
): AsyncGenerator<Turn> {
  const history = new CallHistory();
  for (let at = 0; at < calls.length; at += AT_ONCE) {
    const some = calls.slice(at, at + AT_ONCE);
    const rows: ReadonlyMap<string, Row> = new Map(
      [...(await readSpans(reader, project, some)), ...(await readLogs(reader, project, some))].map((row) => [
        String(row['key']),
        row,
      ]),
    );
    for (const { span, logs } of some) {
      const own = span === null ? undefined : rows.get(keyOf(span));
      const records = logs.flatMap((place): readonly Row[] => {
        const row = rows.get(place);
        return row === undefined ? [] : [row];
      });
      const row = own ?? records.find(({ category }) => category === 'model_call') ?? records[0];
      if (row !== undefined) yield turnOf(row, contentOf(own, records), history, all);
    }
  }
}

const keyOf = (span: NonNullable<StoredCall['span']>): string => `${span.traceId} ${span.spanId} ${span.startNs}`;

/** Senders put the same messages on both, so log records are read where the span has none. */
function contentOf(span: Row | undefined, records: readonly Row[]): readonly Section[] {
  const own = span === undefined ? [] : readRecord(span as unknown as ContentRow);
  return own.length > 0 ? own : records.flatMap((row) => readRecord(row as unknown as ContentRow));
}

const COMMON = `encode(s.trace_id, 'hex') AS trace_id, encode(s.span_id, 'hex') AS span_id, s.environment, s.category,
  ${cutText('model', MODEL)}, ${cutText('agent_name', 's.agent_name')}, s.input_tokens,
  s.output_tokens, s.total_cost,
  ${contentList(MOST_CHARACTERS)}`;

async function readSpans(reader: Reader, project: string, calls: readonly StoredCall[]): Promise<readonly Row[]> {
  const spans = calls.flatMap(({ span }) => span ?? []);
  if (spans.length === 0) return [];
  return reader.query(
    `SELECT k.trace || ' ' || k.span || ' ' || k.ns AS key, 'span' AS signal, ${cutText('name', 's.name')},
       s.start_time_unix_nano, s.duration_ns, s.is_error OR s.status = 'error' AS is_error, ${COMMON}
     FROM unnest($2::text[], $3::text[], $4::int8[]) AS k (trace, span, ns)
     JOIN sluice.spans s ON (s.project = $1) IS TRUE AND s.trace_id = decode(k.trace, 'hex') AND s.span_id = decode(k.span, 'hex')
       AND s.start_time_unix_nano = k.ns`,
    [
      project,
      spans.map(({ traceId }) => traceId),
      spans.map(({ spanId }) => spanId),
      spans.map(({ startNs }) => startNs),
    ],
  );
}

async function readLogs(reader: Reader, project: string, calls: readonly StoredCall[]): Promise<readonly Row[]> {
  const places = calls.flatMap(({ logs }) => logs);
  if (places.length === 0) return [];
  return reader.query(
    `SELECT s.tableoid || ' ' || s.ctid AS key, 'log' AS signal, s.event_name, ${cutText('name', "coalesce(s.event_name, 'log record')")},
       ${logNs('s')} AS start_time_unix_nano, NULL AS duration_ns, s.is_error,
       ${COMMON}
     FROM sluice.logs s
     WHERE s.project = $1 AND s.ctid = ANY ($2::tid[]) AND s.tableoid || ' ' || s.ctid = ANY ($3::text[])`,
    [project, places.map((place) => place.slice(place.indexOf(' ') + 1)), places],
  );
}

function turnOf(row: Row, sections: readonly Section[], history: CallHistory, all: boolean): Turn {
  const { input, answer, repeated, isRepeat } = history.add(sections);
  const messages = all ? [...input, ...answer] : [...input.slice(repeated), ...(isRepeat ? [] : answer)];
  const hasContent = input.length + answer.length > 0;
  return { call: shaped(CALL_ROW, row), messages, repeated, hasContent, isRepeat: isRepeat && !all };
}
