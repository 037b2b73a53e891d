/** The row of a request in `sluice.parts`, as a tuple of COPY BINARY. */
import { PART_COLUMNS } from '../../component/capabilities/postgres.ts';
import type { Signal } from '../../pdata/context.ts';
import { SIGNAL_TABLES } from '../../pdata/stored-text.ts';
import { int4, int8, tupleOf } from '../../pdata/tuple-fields.ts';
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

export function partTuple(part: Part): Buffer {
  const { objectId, firstByte, bytes, codec, signal, project, records, times, inTables } = part;
  return tupleOf(PART_COLUMNS, [
    ...[objectId, int4(firstByte), int4(bytes), codec, SIGNAL_TABLES[signal], project, int4(records)],
    ...[times === null ? null : int8(times.firstNs), times === null ? null : int8(times.lastNs)],
    Buffer.from([inTables ? 1 : 0]),
  ]);
}
