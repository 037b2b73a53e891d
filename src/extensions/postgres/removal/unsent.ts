/** Removes the records of a trace or an environment from requests that are not forwarded yet, and from dead letters. */
import type { Query } from '../../../component/capabilities/postgres.ts';
import { TRACE_ID } from '../../../pdata/record-ids.ts';
import { type EnvironmentChoice, withoutEnvironment } from '../../../pdata/without-environment.ts';
import { type Shortened, withoutTrace } from '../../../pdata/without-trace.ts';
import type { TraceName } from './trace.ts';

/**
 * Entries that may have records of a project or any and of a trace. Their bodies are OTLP in protobuf, in which a trace
 * id is its 16 bytes.
 */
export const UNSENT_OF_TRACE = `
  SELECT sequence::text FROM sluice.outbox
  WHERE ($1::text IS NULL OR project = $1) AND signal <> 'metrics' AND position(decode($2, 'hex') IN body) > 0 ORDER BY sequence`;
const ONE = 'SELECT signal, body FROM sluice.outbox WHERE sequence = $1';
/** Unless it was delivered meanwhile. An entry does not change otherwise. */
const SHORTEN = 'UPDATE sluice.outbox SET body = $2, bytes = $3, records = $4 WHERE sequence = $1';
const REMOVE = 'DELETE FROM sluice.outbox WHERE sequence = $1';

const OF_PROJECT = 'SELECT sequence::text FROM sluice.outbox WHERE project = $1 ORDER BY sequence';

type Signal = 'traces' | 'logs' | 'metrics';

/**
 * Returns the number of entries that had such records. One that is being sent may still arrive. It reads the bodies of
 * all entries of the project, so it should run outside of a transaction, without locks. It can be repeated.
 */
export async function removeUnsent(query: Query, { project, traceId }: TraceName): Promise<number> {
  if (!TRACE_ID.test(traceId)) return 0;
  const id = Buffer.from(traceId, 'hex');
  const found = (await query(UNSENT_OF_TRACE, [project, traceId])).rows;
  return shortenEach(query, found, (body, signal) => withoutTrace(body, signal as 'traces' | 'logs', id));
}

/** As `removeUnsent`, of an environment of a project. */
export async function removeUnsentOf(query: Query, project: string, choice: EnvironmentChoice): Promise<number> {
  const found = (await query(OF_PROJECT, [project])).rows;
  return shortenEach(query, found, (body, signal) => withoutEnvironment(body, signal, choice));
}

async function shortenEach(
  query: Query,
  found: readonly Readonly<Record<string, unknown>>[],
  shorten: (body: Buffer, signal: Signal) => Shortened,
): Promise<number> {
  let entries = 0;
  for (const { sequence } of found) {
    const [entry] = (await query(ONE, [sequence])).rows;
    if (entry === undefined) continue;
    const body = entry['body'] as Buffer;
    const rest = shortenedBy(shorten, body, entry['signal'] as Signal);
    // It has no record to remove: the id of a trace is found in links and in texts too.
    if (rest.body?.length === body.length) continue;
    if (rest.body === null) await query(REMOVE, [sequence]);
    else await query(SHORTEN, [sequence, rest.body, rest.body.length, rest.records]);
    entries++;
  }
  return entries;
}

/** An entry that cannot be read is removed: it may have the records. */
function shortenedBy(shorten: (body: Buffer, signal: Signal) => Shortened, body: Buffer, signal: Signal): Shortened {
  try {
    return shorten(body, signal);
  } catch {
    return { body: null, records: 0, removed: 0 };
  }
}
