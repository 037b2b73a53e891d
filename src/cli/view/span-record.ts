/** One stored span with everything that was stored of it, found by a prefix of its id. */
import { logOrder } from '../../pdata/log-time.ts';
import { idsFrom, SPAN_ID_DIGITS } from '../../pdata/record-ids.ts';
import { UserError } from '../../errors.ts';
import { type StoredText, storedTextQuery } from '../../pdata/stored-text.ts';
import { UsageError } from '../options.ts';
import { type Reader, textOf } from '../reader.ts';
import { IN_TIMES, SHOWN_CANDIDATES, timesOf, type TraceKey } from './trace-record.ts';

export interface SpanKey {
  readonly project: string;
  readonly environment: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly startNs: string;
}

/** The log records of a span that are read, from the first on. */
const MOST_LOGS = 1_000;

export interface SpanPlace {
  readonly project: string | null;
  readonly trace: TraceKey | null;
}

export async function findSpan(reader: Reader, written: string, place: SpanPlace): Promise<SpanKey> {
  const key = await searchSpan(reader, written, place);
  if (key === null) throw new UserError(`there is no span ${written.toLowerCase()}`, 'See `sluice trace ID --json`.');
  return key;
}

/** Null: there is none. Spans have an index by trace only: without one, every stored span is read. */
export async function searchSpan(
  reader: Reader,
  written: string,
  { project, trace }: SpanPlace,
): Promise<SpanKey | null> {
  const prefix = written.toLowerCase();
  if (!/^[0-9a-f]{1,16}$/u.test(prefix))
    throw new UsageError('a span id is 16 hexadecimal digits, or the first of them', 'See `sluice trace ID --json`.');
  const [where, values] =
    trace === null ? ['$1::text IS NULL OR project = $1', [project]] : [IN_TIMES, (await timesOf(reader, trace)).spans];
  const [lowest, highest] = [`decode($${values.length + 1}, 'hex')`, `decode($${values.length + 2}, 'hex')`];
  const rows = await reader.query(
    `SELECT project, environment, encode(trace_id, 'hex') AS trace_id, encode(span_id, 'hex') AS span_id, start_time_unix_nano
     FROM sluice.spans WHERE (${where}) AND span_id BETWEEN ${lowest} AND ${highest}
     ORDER BY span_id, trace_id, start_time_unix_nano LIMIT ${SHOWN_CANDIDATES}`,
    [...values, ...idsFrom(prefix, SPAN_ID_DIGITS)],
  );
  const keys = rows.map((row) => ({
    project: String(row['project']),
    environment: String(row['environment']),
    traceId: String(row['trace_id']),
    spanId: String(row['span_id']),
    startNs: String(row['start_time_unix_nano']),
  }));
  const [key, second] = keys;
  if (key === undefined) return null;
  // A sender may use one id for two spans of a trace: the first is shown.
  if (second === undefined || keys.every(({ spanId, traceId }) => spanId === key.spanId && traceId === key.traceId))
    return key;
  const isOneId = keys.every(({ spanId }) => spanId === key.spanId);
  const ids = keys.map(({ spanId, traceId }) => (isOneId ? `--trace ${traceId}` : spanId));
  throw new UserError(
    `several spans begin with ${prefix}`,
    `Give ${isOneId ? 'the trace' : 'more digits'}: ${ids.join(', ')}${keys.length === SHOWN_CANDIDATES ? ', …' : ''}`,
  );
}

export interface SpanRecord {
  readonly key: SpanKey;
  readonly span: StoredText;
  /** The log records that name the span, in order of time. */
  readonly logs: readonly StoredText[];
  /** How many name the span. `logs` has the first `MOST_LOGS`. */
  readonly logCount: number;
}

export async function readSpan(reader: Reader, key: SpanKey): Promise<SpanRecord> {
  const spans = storedTextQuery('traces');
  const [span] = await reader.query(
    `SELECT ${spans.list} FROM ${spans.from}
     WHERE s.project = $1 AND s.trace_id = decode($2, 'hex') AND s.span_id = decode($3, 'hex') AND s.start_time_unix_nano = $4`,
    [key.project, key.traceId, key.spanId, key.startNs],
  );
  if (span === undefined) throw new UserError(`the span ${key.spanId} was removed`);
  const logs = storedTextQuery('logs');
  const times = await timesOf(reader, key);
  const values = [...times.logs, key.spanId];
  const ofSpan = `${logs.from}
    WHERE s.project = $1 AND s.trace_id = decode($2, 'hex') AND s.received_at >= $3::timestamptz AND s.span_id = decode($4, 'hex')`;
  const found = await reader.query(
    `SELECT ${logs.list} FROM ${ofSpan} ORDER BY ${logOrder('s')} LIMIT ${MOST_LOGS}`,
    values,
  );
  let logCount = found.length;
  if (logCount === MOST_LOGS) {
    const [counted] = await reader.query(`SELECT count(*) AS logs FROM ${ofSpan}`, values);
    logCount = Math.max(logCount, Number(counted?.['logs']));
  }
  return { key, span: textRow(span), logs: found.map(textRow), logCount };
}

export const textRow = (row: Readonly<Record<string, unknown>>): StoredText =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, textOf(value)]));
