/**
 * The OTLP message types from `proto/`, loaded with protobufjs, and the neutral form the tests pass messages around in:
 * plain objects under lowerCamelCase names with 64-bit integers as bigint.
 */
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';

export type Value = string | number | bigint | boolean | Uint8Array | Message | readonly Value[];
export interface Message {
  readonly [field: string]: Value | undefined;
}
export type Signal = typeof SIGNAL_TRACES | typeof SIGNAL_LOGS | typeof SIGNAL_METRICS;

export const SIGNALS: readonly Signal[] = [SIGNAL_TRACES, SIGNAL_LOGS, SIGNAL_METRICS];
export const SIGNAL_NAMES = ['traces', 'logs', 'metrics'] as const;
export const ENCODING_NAMES = ['protobuf', 'json'] as const;

const PROTO_FOLDER = fileURLToPath(new URL('../../../proto/', import.meta.url));
const SERVICES = ['trace', 'logs', 'metrics'].map(
  (name) => `opentelemetry/proto/collector/${name}/v1/${name}_service.proto`,
);
const REQUESTS = ['trace.v1.ExportTrace', 'logs.v1.ExportLogs', 'metrics.v1.ExportMetrics'].map(
  (name) => `opentelemetry.proto.collector.${name}ServiceRequest`,
);

/** The three request types, indexed by signal, and everything they refer to. */
export interface Protos {
  readonly root: protobuf.Root;
  readonly requests: readonly [protobuf.Type, protobuf.Type, protobuf.Type];
}

let loaded: Protos | undefined;

/** The types are read once in a process. */
export function loadProtos(): Protos {
  loaded ??= readProtos();
  return loaded;
}

function readProtos(): Protos {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => `${PROTO_FOLDER}${target.replace(PROTO_FOLDER, '')}`;
  root.loadSync([...SERVICES, 'google/rpc/status.proto']);
  root.resolveAll();
  const [traces, logs, metrics] = REQUESTS.map((name) => root.lookupType(name));
  if (traces === undefined || logs === undefined || metrics === undefined) throw new Error('a request type is missing');
  return { root, requests: [traces, logs, metrics] };
}

/** Fields of a message type by their JSON name. protobufjs already names them in lowerCamelCase. */
export function fieldsOf(type: protobuf.Type): readonly protobuf.Field[] {
  return type.fieldsArray.map((field) => field.resolve());
}

/** The message type a field holds, or null for scalars and enums. */
export function submessageOf(field: protobuf.Field): protobuf.Type | null {
  return field.resolvedType instanceof protobuf.Type ? field.resolvedType : null;
}

export function isEnum(field: protobuf.Field): boolean {
  return field.resolvedType instanceof protobuf.Enum;
}

/** snake_case of a lowerCamelCase field name; equal to it when the name is one word. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isMessage(value: Value | undefined): value is Message {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Uint8Array);
}

/** The representation of 64-bit integers in protobufjs. */
interface LongBits {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

function isLong(value: unknown): value is LongBits {
  return typeof value === 'object' && value !== null && 'low' in value && 'high' in value && 'unsigned' in value;
}

function ofLong({ low, high, unsigned }: LongBits): bigint {
  const bits = (BigInt.asUintN(32, BigInt(high)) << 32n) | BigInt.asUintN(32, BigInt(low));
  return unsigned ? bits : BigInt.asIntN(64, bits);
}

function toLibrary(value: Value): unknown {
  if (typeof value === 'bigint') {
    const bits: LongBits = {
      low: Number(BigInt.asIntN(32, value)),
      high: Number(BigInt.asIntN(32, value >> 32n)),
      unsigned: value >= 2n ** 63n,
    };
    return bits;
  }
  if (Array.isArray(value)) return value.map(toLibrary);
  if (isMessage(value)) {
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, inner]) => (inner === undefined ? [] : [[name, toLibrary(inner)]])),
    );
  }
  return value;
}

/** The protobuf bytes of a neutral message, by protobufjs. */
export function encodeProtobuf(type: protobuf.Type, message: Message): Buffer {
  return Buffer.from(type.encode(type.fromObject(toLibrary(message) as Record<string, unknown>)).finish());
}

function fromLibrary(type: protobuf.Type, message: object): Message {
  const result: Record<string, Value> = {};
  for (const field of fieldsOf(type)) {
    if (!Object.hasOwn(message, field.name)) continue;
    const raw: unknown = (message as Record<string, unknown>)[field.name];
    if (raw === null || raw === undefined) continue;
    const inner = submessageOf(field);
    const convert = (value: unknown): Value => {
      if (inner !== null) return fromLibrary(inner, value as object);
      if (isLong(value)) return ofLong(value);
      return value as Value;
    };
    result[field.name] = field.repeated ? (raw as unknown[]).map(convert) : convert(raw);
  }
  return result;
}

/** What protobufjs reads from the bytes, in neutral form. It is less strict than the product and the oracle. */
export function decodeProtobuf(type: protobuf.Type, body: Uint8Array): Message {
  return fromLibrary(type, type.decode(body));
}
