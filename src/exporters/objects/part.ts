/** The row of a request in `sluice.parts`, as a tuple of COPY BINARY. */
import { PART_COLUMNS } from '../../component/capabilities/postgres.ts';
import type { Signal } from '../../pdata/context.ts';
import { SIGNAL_TABLES } from '../../pdata/stored-text.ts';
import type { Codec } from './object-key.ts';
import type { RecordTimes } from './record-times.ts';

export interface Part {
  readonly objectId: Buffer;
  readonly firstByte: number;
  readonly bytes: number;
  readonly codec: Codec;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
  readonly times: RecordTimes | null;
  /** Whether the tables of the database have the records too. */
  readonly inTables: boolean;
}

const INT4_BYTES = 4;
const INT8_BYTES = 8;
const NULL = -1;

export function tupleOf(part: Part): Buffer {
  const { objectId, firstByte, bytes, codec, signal, project, records, times, inTables } = part;
  const count = Buffer.alloc(2);
  count.writeUInt16BE(PART_COLUMNS.length);
  const fields = [
    ...[objectId, int4(firstByte), int4(bytes), codec, SIGNAL_TABLES[signal], project, int4(records)],
    ...[times === null ? null : int8(times.firstNs), times === null ? null : int8(times.lastNs)],
    Buffer.from([inTables ? 1 : 0]),
  ];
  return Buffer.concat([count, ...fields.flatMap((field) => withLength(field))]);
}

function withLength(field: Buffer | string | null): readonly Buffer[] {
  if (field === null) return [int4(NULL)];
  const bytes = typeof field === 'string' ? Buffer.from(field) : field;
  return [int4(bytes.length), bytes];
}

function int4(value: number): Buffer {
  const field = Buffer.alloc(INT4_BYTES);
  field.writeInt32BE(value);
  return field;
}

function int8(value: bigint): Buffer {
  const field = Buffer.alloc(INT8_BYTES);
  field.writeBigInt64BE(value);
  return field;
}
