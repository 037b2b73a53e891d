/**
 * Protobuf fields as bytes, freely combined: bodies that an encoder library refuses to write and the indexer must
 * refuse to read.
 */

function varintBytes(value: bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest >= 0x80n) {
    out.push(Number(rest & 0x7fn) | 0x80);
    rest >>= 7n;
  }
  out.push(Number(rest));
  return Buffer.from(out);
}

export const tag = (field: number, type: number): Buffer => varintBytes(BigInt(field) * 8n + BigInt(type));

export const varint = (field: number, value: number | bigint): Buffer =>
  Buffer.concat([tag(field, 0), varintBytes(BigInt(value))]);

export function fixed64(field: number, value: number | bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)));
  return Buffer.concat([tag(field, 1), bytes]);
}

export function fixed32(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return Buffer.concat([tag(field, 5), bytes]);
}

export function double(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([tag(field, 1), bytes]);
}

/** A length-delimited field: a message, or bytes. */
export function message(field: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([tag(field, 2), varintBytes(BigInt(content.length)), content]);
}

export const text = (field: number, value: string): Buffer => message(field, Buffer.from(value));
export const hex = (field: number, value: string): Buffer => message(field, Buffer.from(value, 'hex'));

/** A KeyValue as field `field`; the value is the content of an AnyValue. */
export const attribute = (field: number, key: string, ...value: Buffer[]): Buffer =>
  message(field, text(1, key), message(2, ...value));

/** A request of one resource container and one scope container with these records. */
export const request = (...records: Buffer[]): Buffer =>
  message(1, message(2, ...records.map((bytes) => message(2, bytes))));

export const TRACE_ID = '0102030405060708090a0b0c0d0e0f10';
export const SPAN_ID = '1112131415161718';

/** The required fields of a span. */
export const span = (...fields: Buffer[]): Buffer =>
  Buffer.concat([hex(1, TRACE_ID), hex(2, SPAN_ID), fixed64(7, 1), ...fields]);
