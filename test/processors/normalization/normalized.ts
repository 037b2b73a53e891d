/**
 * Sends bodies through the real intake and the processor, and reads back the lines that the file exporter would write.
 */
import { processAtOnce } from '../../support/process-at-once.ts';
import { Context } from '../../../src/pdata/context.ts';
import type { Encoding, Signal } from '../../../src/pdata/context.ts';
import { ChunkPool } from '../../../src/pdata/chunk-pool.ts';
import type { Batch } from '../../../src/pdata/batch.ts';
import { encodeRows } from '../../../src/pdata/encode-rows.ts';
import { Intake } from '../../../src/pdata/index-body.ts';
import { encodeProtobuf, loadProtos, type Message } from '../../support/protos.ts';
import { Capabilities } from '../../../src/component/capabilities/capability.ts';
import type { Host } from '../../../src/component/component.ts';
import type { Processor } from '../../../src/component/processor.ts';
import { normalization, type NormalizationOptions } from '../../../src/processors/normalization/normalization.ts';

export type Row = Readonly<Record<string, unknown>>;

export class Normalized {
  readonly intake = new Intake();
  readonly #pool = new ChunkPool();
  readonly #protos = loadProtos();
  readonly processor: Processor;

  constructor(capabilities = new Capabilities(), options: NormalizationOptions = {}) {
    this.processor = normalization.create(options, { capabilities } as Host);
    this.processor.prepare?.(this.intake.tables);
  }

  batch(signal: Signal, encoding: Encoding, body: Uint8Array): Batch {
    return this.intake.index(
      signal,
      encoding,
      body,
      new Context({ signal, transport: 'http', authorization: undefined }),
    );
  }

  /** The rows of plain records, through OTLP/JSON. */
  plain(signal: 'traces' | 'logs', records: readonly PlainRecord[], mark?: (batch: Batch) => void): Row[] {
    return this.rows(signal, 'json', jsonBody(signal, records), mark);
  }

  /** The same through protobuf. */
  viaProtobuf(signal: 'traces' | 'logs', records: readonly PlainRecord[]): Row[] {
    const type = this.#protos.requests[signal === 'traces' ? 0 : 1];
    return this.rows(signal, 'protobuf', encodeProtobuf(type, protobufMessage(signal, records)));
  }

  /** The one row of one span. */
  span(attributes: NonNullable<PlainRecord['attributes']>, more: Omit<PlainRecord, 'attributes'> = {}): Row {
    return this.plain('traces', [{ ...more, attributes }])[0] ?? {};
  }

  /** The one row of one log record. */
  log(
    name: string,
    attributes: NonNullable<PlainRecord['attributes']>,
    more: Omit<PlainRecord, 'attributes'> = {},
  ): Row {
    return this.plain('logs', [{ ...more, name, attributes }])[0] ?? {};
  }

  /** The rows of a body. `mark` may give dispositions before the processor runs, as privacy does. */
  rows(signal: Signal, encoding: Encoding, body: Uint8Array, mark?: (batch: Batch) => void): Row[] {
    const batch = this.batch(signal, encoding, body);
    mark?.(batch);
    processAtOnce(this.processor, batch);
    const rows = encodeRows(batch, 'ndjson', this.#pool);
    const text = Buffer.concat(rows.chunks).toString('utf8');
    rows.release();
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Row);
  }
}

/** One record of a test; attributes as plain values, bigint for an integer, number for a double. */
export interface PlainRecord {
  readonly name?: string;
  readonly attributes?: Readonly<Record<string, PlainValue>> | readonly (readonly [string, PlainValue])[];
  readonly scope?: string;
  readonly resource?: Readonly<Record<string, PlainValue>>;
  readonly status?: number;
  readonly start?: bigint;
  readonly end?: bigint;
  readonly events?: readonly {
    readonly name: string;
    readonly time?: bigint;
    readonly attributes: Readonly<Record<string, PlainValue>>;
  }[];
  readonly body?: PlainValue;
}
export type PlainValue =
  | string
  | number
  | bigint
  | boolean
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

export const START = 1_790_000_000_000_000_000n;

/** OTLP/JSON of spans or log records. */
export function jsonBody(signal: 'traces' | 'logs', records: readonly PlainRecord[]): Buffer {
  return Buffer.from(JSON.stringify(message(signal, records, String)));
}

/** The same request as a neutral message for protobufjs. */
export function protobufMessage(signal: 'traces' | 'logs', records: readonly PlainRecord[]): Message {
  return message(signal, records, (integer) => integer) as Message;
}

function message(signal: 'traces' | 'logs', records: readonly PlainRecord[], int: (value: bigint) => unknown): unknown {
  const [resources, scopes, list] =
    signal === 'traces' ? ['resourceSpans', 'scopeSpans', 'spans'] : ['resourceLogs', 'scopeLogs', 'logRecords'];
  return {
    [resources]: records.map((record, index) => ({
      resource: { attributes: attributesOf(record.resource ?? {}, int) },
      [scopes]: [
        {
          scope: { name: record.scope ?? 'test' },
          [list]: [signal === 'traces' ? spanOf(record, index, int) : logOf(record, int)],
        },
      ],
    })),
  };
}

function spanOf(record: PlainRecord, index: number, int: (value: bigint) => unknown): unknown {
  const isJson = typeof int(1n) === 'string';
  const id = (bytes: number): unknown => {
    const hex = (index + 1).toString(16).padStart(bytes * 2, '0');
    return isJson ? hex : Buffer.from(hex, 'hex');
  };
  return {
    traceId: id(16),
    spanId: id(8),
    name: record.name ?? 'span',
    startTimeUnixNano: int(record.start ?? START),
    endTimeUnixNano: int(record.end ?? START + 250_000_000n),
    attributes: attributesOf(record.attributes ?? {}, int),
    status: { code: record.status ?? 0 },
    events: (record.events ?? []).map(({ name, time, attributes }) => ({
      name,
      timeUnixNano: int(time ?? START),
      attributes: attributesOf(attributes, int),
    })),
  };
}

function logOf(record: PlainRecord, int: (value: bigint) => unknown): unknown {
  return {
    timeUnixNano: int(record.start ?? START),
    ...(record.name === undefined ? {} : { eventName: record.name }),
    ...(record.body === undefined ? {} : { body: anyValue(record.body, int) }),
    attributes: attributesOf(record.attributes ?? {}, int),
  };
}

function attributesOf(attributes: NonNullable<PlainRecord['attributes']>, int: (value: bigint) => unknown): unknown[] {
  const entries = (Array.isArray(attributes) ? attributes : Object.entries(attributes)) as readonly [
    string,
    PlainValue,
  ][];
  return entries.map(([key, value]) => ({ key, value: anyValue(value, int) }));
}

function anyValue(value: PlainValue, int: (value: bigint) => unknown): unknown {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'number':
      return { doubleValue: Number.isFinite(value) ? value : typeof int(1n) === 'string' ? String(value) : value };
    case 'bigint':
      return { intValue: int(value) };
    case 'boolean':
      return { boolValue: value };
    default:
      return Array.isArray(value)
        ? { arrayValue: { values: value.map((element: PlainValue) => anyValue(element, int)) } }
        : { kvlistValue: { values: attributesOf(value as Readonly<Record<string, PlainValue>>, int) } };
  }
}
