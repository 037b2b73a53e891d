/** One body of the load, and what the store must hold when it is accepted. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type protobuf from 'protobufjs';
import type { Tenant } from './tenants.ts';

export type Signal = 'traces' | 'logs' | 'metrics';
const SIGNALS: readonly Signal[] = ['traces', 'logs', 'metrics'];

/** The reason for which the body may be refused. A `sound` body may only be answered 200 or 503. */
export type Nature = 'sound' | 'contested' | 'limited' | 'foreign_environment' | 'broken';

export interface Body {
  readonly id: number;
  readonly tenant: Tenant;
  readonly environment: string;
  readonly signal: Signal;
  readonly encoding: 'protobuf' | 'json';
  readonly gzip: boolean;
  readonly nature: Nature;
  readonly bytes: Buffer;
  /** As the replay marker is keyed: a byte for signal, media type and encoding, then the SHA-256, in hex. */
  readonly marker: string;
  /** Hex ids of the traces it claims. */
  readonly traces: readonly string[];
  /** The names of its records. A name in several bodies is the same span, sent again. */
  readonly records: readonly string[];
}

export interface Draft extends Omit<Body, 'bytes' | 'marker'> {
  /** The request as OTLP JSON, ids in hex. */
  readonly message: object;
}

/** The attribute that carries a record's name, on spans, log records and data points alike. */
export const NAME_ATTRIBUTE = 'crash.record';
const ID_FIELDS = new Set(['traceId', 'spanId', 'parentSpanId']);

export type RequestTypes = Readonly<Record<Signal, protobuf.Type>>;

export function makeBody(draft: Draft, types: RequestTypes): Body {
  const { message, ...facts } = draft;
  let plain =
    draft.encoding === 'json' ? Buffer.from(JSON.stringify(message)) : encodeProtobuf(types[draft.signal], message);
  // The records before the cut are complete: a lenient reader would store them.
  if (draft.nature === 'broken') plain = plain.subarray(0, plain.length - 2);
  const bytes = draft.gzip ? gzipSync(plain, { level: 1 }) : plain;
  return { ...facts, bytes, marker: markerOf(draft, bytes) };
}

function markerOf({ signal, encoding, gzip }: Draft, bytes: Buffer): string {
  const tag = SIGNALS.indexOf(signal) * 4 + (encoding === 'json' ? 2 : 0) + (gzip ? 1 : 0);
  return tag.toString(16).padStart(2, '0') + createHash('sha256').update(bytes).digest('hex');
}

function encodeProtobuf(type: protobuf.Type, message: object): Buffer {
  return Buffer.from(type.encode(type.fromObject(withBinaryIds(message) as Record<string, unknown>)).finish());
}

function withBinaryIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBinaryIds);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      ID_FIELDS.has(name) ? Buffer.from(String(inner), 'hex') : withBinaryIds(inner),
    ]),
  );
}
