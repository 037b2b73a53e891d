/** Removes the records of a trace from requests that are not forwarded yet, and from dead letters. */
import type { Query } from '../../../component/capabilities/postgres.ts';
import { type Shortened, withoutTrace } from '../../../pdata/without-trace.ts';
import type { TraceName } from './trace.ts';

const HEX_ID = /^[0-9a-f]{32}$/iu;
/** The body of an entry is OTLP in protobuf, in which a trace id is its 16 bytes. */
const FOUND = `
  SELECT sequence::text FROM sluice.outbox
  WHERE ($1::text IS NULL OR project = $1) AND signal <> 'metrics' AND position(decode($2, 'hex') IN body) > 0 ORDER BY sequence`;
const ONE = 'SELECT signal, body FROM sluice.outbox WHERE sequence = $1';
/** Unless it was delivered meanwhile. An entry does not change otherwise. */
const SHORTEN = 'UPDATE sluice.outbox SET body = $2, bytes = $3, records = $4 WHERE sequence = $1';
const REMOVE = 'DELETE FROM sluice.outbox WHERE sequence = $1';

/**
 * Returns the number of entries that had such records. One that is being sent may still arrive. It reads the bodies of
 * all entries of the project, so it should run outside of a transaction, without locks. It can be repeated.
 */
export async function removeUnsent(query: Query, { project, traceId }: TraceName): Promise<number> {
  if (!HEX_ID.test(traceId)) return 0;
  const id = Buffer.from(traceId, 'hex');
  let entries = 0;
  for (const { sequence } of (await query(FOUND, [project, traceId])).rows) {
    const [entry] = (await query(ONE, [sequence])).rows;
    if (entry === undefined) continue;
    const rest = shorten(entry['body'] as Buffer, entry['signal'] as 'traces' | 'logs', id);
    // A link to the trace, or the same bytes in a text.
    if (rest.removed === 0 && rest.body !== null) continue;
    if (rest.body === null) await query(REMOVE, [sequence]);
    else await query(SHORTEN, [sequence, rest.body, rest.body.length, rest.records]);
    entries++;
  }
  return entries;
}

/** An entry that cannot be read is removed: it may have the records. */
function shorten(body: Buffer, signal: 'traces' | 'logs', id: Buffer): Shortened {
  try {
    return withoutTrace(body, signal, id);
  } catch {
    return { body: null, records: 0, removed: 0 };
  }
}
