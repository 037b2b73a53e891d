/** Outbox entries as tuples of COPY BINARY. Bodies are passed on in their chunks, without a copy. */
import type { OutboxEntry } from '../../../component/capabilities/outbox.ts';

/** In the order of the tuples; the other columns have defaults. */
export const OUTBOX_COLUMNS = ['destination', 'signal', 'project', 'records', 'bytes', 'body'] as const;

const INT4_BYTES = 4;

export function tuplesOf(entries: readonly OutboxEntry[]): readonly Buffer[] {
  return entries.flatMap((entry) => [headOf(entry), ...entry.chunks]);
}

/** The bytes of a tuple before the body. */
function headOf({ destination, signal, project, records, bytes }: OutboxEntry): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(OUTBOX_COLUMNS.length);
  const texts = [destination, signal, project].map((text) => Buffer.from(text));
  return Buffer.concat([
    count,
    ...texts.flatMap((text) => [int4(text.length), text]),
    ...[records, bytes].flatMap((value) => [int4(INT4_BYTES), int4(value)]),
    int4(bytes),
  ]);
}

function int4(value: number): Buffer {
  const field = Buffer.alloc(INT4_BYTES);
  field.writeInt32BE(value);
  return field;
}
