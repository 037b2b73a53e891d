/** Decodes tuples of COPY BINARY into the values of an NDJSON line. */
import type { Column, ColumnType } from '../../src/pdata/columns.ts';
import { fieldsOf, type SharedContents } from '../../src/pdata/shared-contents.ts';

export type CopyTuple = Readonly<Record<string, unknown>>;

const POSTGRES_EPOCH_MICROSECONDS = 946_684_800_000_000n;
const NUMERIC_HEADER_BYTES = 8;

function checkLength(field: Buffer, length: number): Buffer {
  if (field.length !== length) throw new Error(`a field has ${field.length} bytes instead of ${length}`);
  return field;
}

function double(field: Buffer): number | string {
  const value = checkLength(field, 8).readDoubleBE();
  return Number.isFinite(value) ? value : String(value);
}

/** numeric(18,8) as a decimal with eight digits. */
function money(field: Buffer): string {
  const groups = field.readUInt16BE(0);
  const weight = field.readInt16BE(2);
  const sign = field.readUInt16BE(4);
  if (field.readUInt16BE(6) !== 8) throw new Error('the scale is not 8');
  checkLength(field, NUMERIC_HEADER_BYTES + groups * 2);
  let amount = 0n;
  for (let i = 0; i < groups; i++) {
    const group = field.readUInt16BE(NUMERIC_HEADER_BYTES + i * 2);
    if (group > 9999) throw new Error('a group of digits is too large');
    if (group === 0 && (i === 0 || i === groups - 1)) throw new Error('a group of zeros stands at an end');
    amount += BigInt(group) * 10n ** BigInt((weight - i + 2) * 4);
  }
  const digits = amount.toString().padStart(9, '0');
  return `${sign === 0x4000 ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
}

function timestamp(field: Buffer): string {
  const microseconds = checkLength(field, 8).readBigInt64BE() + POSTGRES_EPOCH_MICROSECONDS;
  const seconds = new Date(Number(microseconds / 1000n)).toISOString().slice(0, 19);
  return `${seconds}.${String(microseconds % 1_000_000n).padStart(6, '0')}Z`;
}

function json(field: Buffer): unknown {
  if (field[0] !== 1) throw new Error('the version of jsonb is not 1');
  return JSON.parse(field.toString('utf8', 1));
}

function boolean(field: Buffer): boolean {
  const byte = checkLength(field, 1)[0];
  if (byte !== 0 && byte !== 1) throw new Error('a boolean is neither 0 nor 1');
  return byte === 1;
}

const READERS: Readonly<Record<ColumnType, (field: Buffer) => unknown>> = {
  text: (field) => field.toString('utf8'),
  json,
  trace_id: (field) => checkLength(field, 16).toString('hex'),
  span_id: (field) => checkLength(field, 8).toString('hex'),
  content_id: (field) => checkLength(field, 16).toString('hex'),
  nanos: (field) => String(checkLength(field, 8).readBigInt64BE()),
  count64: (field) => String(checkLength(field, 8).readBigInt64BE()),
  count: (field) => Number(checkLength(field, 8).readBigInt64BE()),
  int4: (field) => checkLength(field, 4).readInt32BE(),
  double,
  money,
  boolean,
  timestamp,
};

/** Decodes every tuple. Throws unless the bytes are complete tuples of these columns. */
export function readTuples(bytes: Buffer, columns: readonly Column[]): CopyTuple[] {
  const tuples: CopyTuple[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (bytes.readInt16BE(at) !== columns.length) throw new Error('a tuple has another number of fields');
    at += 2;
    const tuple: Record<string, unknown> = {};
    for (const { name, type } of columns) {
      const length = bytes.readInt32BE(at);
      at += 4;
      if (length > bytes.length - at) throw new Error(`${name} reaches past the end`);
      tuple[name] = length < 0 ? null : READERS[type](bytes.subarray(at, at + length));
      at += Math.max(length, 0);
    }
    tuples.push(tuple);
  }
  return tuples;
}

const CONTENT_COLUMNS = {
  resource: { resource: json },
  scope: { scope_name: READERS.text, scope_version: READERS.text, scope_attributes: json },
} as const;
const NOTHING: CopyTuple = { scope_name: null, scope_version: null, scope_attributes: null };

/**
 * The tuples with the columns of the views: contents in place of their ids. Throws for an unknown id.
 */
export function resolveTuples(tuples: readonly CopyTuple[], contents: SharedContents): CopyTuple[] {
  const known = new Map<unknown, CopyTuple>([[null, NOTHING]]);
  for (const content of contents) {
    const [, ...fields] = fieldsOf(content);
    const columns = Object.entries(CONTENT_COLUMNS[content.kind]);
    if (fields.length !== columns.length) throw new Error(`a ${content.kind} has ${fields.length} fields`);
    const values = columns.map(([name, read], index) => [name, contentValue(fields[index] as Buffer, read)]);
    known.set(Buffer.from(content.id, 'latin1').toString('hex'), Object.fromEntries(values));
  }
  return tuples.map(({ resource_id: resourceId, scope_id: scopeId, ...own }) => {
    const [resource, scope] = [known.get(resourceId), known.get(scopeId)];
    if (resource === undefined || scope === undefined) throw new Error('a tuple refers to an unknown content');
    return { ...own, ...resource, ...scope };
  });
}

const contentValue = (field: Buffer, read: (field: Buffer) => unknown): unknown =>
  field.readInt32BE(0) < 0 ? null : read(field.subarray(4));
