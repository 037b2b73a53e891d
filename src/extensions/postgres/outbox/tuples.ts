/** Outbox entries as tuples of COPY BINARY. Bodies are passed on in their chunks, without a copy. */
import type { OutboxEntry } from '../../../component/capabilities/outbox.ts';
import { int4, tupleOf } from '../../../pdata/tuple-fields.ts';

/** In the order of the tuples; the other columns have defaults. */
export const OUTBOX_COLUMNS = ['destination', 'signal', 'project', 'records', 'bytes', 'body'] as const;

export function tuplesOf(entries: readonly OutboxEntry[]): readonly Buffer[] {
  return entries.flatMap((entry) => [headOf(entry), ...entry.chunks]);
}

/** The bytes of a tuple before the body. */
const headOf = ({ destination, signal, project, records, bytes }: OutboxEntry): Buffer =>
  Buffer.concat([tupleOf(OUTBOX_COLUMNS, [destination, signal, project, int4(records), int4(bytes)]), int4(bytes)]);
