/** OTLP requests written by hand: a body of 16 MiB takes the generic writer seconds, and a campaign needs hundreds. */
import { randomBytes } from 'node:crypto';

const DELIMITED = 2;
const FIXED64 = 1;

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (; value >= 128; value = Math.floor(value / 128)) bytes.push((value % 128) | 128);
  bytes.push(value);
  return bytes;
}

function message(field: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([(field << 3) | DELIMITED, ...varint(length)]), ...parts]);
}

const text = (field: number, value: string | Buffer): Buffer => message(field, Buffer.from(value));

function fixed64(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(9);
  bytes[0] = (field << 3) | FIXED64;
  bytes.writeBigUInt64LE(value, 1);
  return bytes;
}

export const attribute = (field: number, key: string, value: string | Buffer): Buffer =>
  message(field, text(1, key), message(2, text(1, value)));

const TRACE_ID = { field: 1, at: 2, bytes: 16 };
const SPAN_ID = { field: 2, at: 20, bytes: 8 };

/** The fields of a span after its ids. */
export function spanFields(name: string, attributes: readonly Buffer[] = []): Buffer {
  const now = BigInt(Date.now()) * 1_000_000n;
  return Buffer.concat([text(5, name), fixed64(7, now), fixed64(8, now + 1_000_000n), ...attributes]);
}

/** Spans, each in its own trace, as fields of a ScopeSpans. */
export function spans(count: number, fields: Buffer): Buffer {
  const ids = [text(TRACE_ID.field, randomBytes(TRACE_ID.bytes)), text(SPAN_ID.field, randomBytes(SPAN_ID.bytes))];
  const one = message(2, ...ids, fields);
  const head = one.length - fields.length - SPAN_ID.at - SPAN_ID.bytes;
  const all = Buffer.alloc(one.length * count, one);
  for (let index = 0, at = head; index < count; index++, at += one.length) {
    all.writeUInt32LE(index, at + TRACE_ID.at);
    all.writeUInt32LE(index, at + SPAN_ID.at);
  }
  return all;
}

/** A ResourceSpans, ResourceLogs or ResourceMetrics with one scope. */
export function resourceOf(attributes: readonly Buffer[], records: Buffer): Buffer {
  return message(1, message(1, ...attributes), message(2, records));
}

export function logs(count: number, body: Buffer): Buffer {
  const now = BigInt(Date.now()) * 1_000_000n;
  const one = message(2, fixed64(1, now), message(5, text(1, body)), text(10, Buffer.alloc(SPAN_ID.bytes, 1)));
  return Buffer.alloc(one.length * count, one);
}
