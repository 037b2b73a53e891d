/** The row of a request in `sluice.parts`, as a tuple of COPY BINARY. */
import { PART_COLUMNS } from '../../component/capabilities/postgres.ts';
import type { Signal } from '../../pdata/context.ts';
import type { Codec } from './object-key.ts';

export interface Part {
  readonly objectId: Buffer;
  readonly firstByte: number;
  readonly bytes: number;
  readonly codec: Codec;
  readonly signal: Signal;
  readonly project: string;
  readonly records: number;
}

/** As in `sluice.lake_jobs`. */
const TABLES: Readonly<Record<Signal, string>> = { traces: 'spans', logs: 'logs', metrics: 'metric_points' };
const INT4_BYTES = 4;

export function tupleOf({ objectId, firstByte, bytes, codec, signal, project, records }: Part): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(PART_COLUMNS.length);
  const fields = [objectId, int4(firstByte), int4(bytes), codec, TABLES[signal], project, int4(records)];
  return Buffer.concat([count, ...fields.flatMap((field) => withLength(Buffer.from(field)))]);
}

const withLength = (field: Buffer): readonly Buffer[] => [int4(field.length), field];

function int4(value: number): Buffer {
  const field = Buffer.alloc(INT4_BYTES);
  field.writeInt32BE(value);
  return field;
}
