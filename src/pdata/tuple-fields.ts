/** The beginning of a tuple of COPY BINARY, for tables whose rows are not encoded from records. */

export type TupleField = Buffer | string | null;

const NULL_LENGTH = -1;

/** The number of columns and the fields of the first ones; those of the others follow. */
export function tupleOf(columns: readonly string[], fields: readonly TupleField[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16BE(columns.length);
  return Buffer.concat([count, ...fields.flatMap((field) => withLength(field))]);
}

function withLength(field: TupleField): readonly Buffer[] {
  if (field === null) return [int4(NULL_LENGTH)];
  const bytes = typeof field === 'string' ? Buffer.from(field) : field;
  return [int4(bytes.length), bytes];
}

export function int4(value: number): Buffer {
  const field = Buffer.alloc(4);
  field.writeInt32BE(value);
  return field;
}

export function int8(value: bigint): Buffer {
  const field = Buffer.alloc(8);
  field.writeBigInt64BE(value);
  return field;
}
