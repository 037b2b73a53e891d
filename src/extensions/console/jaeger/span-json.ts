/** Spans in the shape of Jaeger's API, made from OTLP/JSON as Jaeger itself makes them. */
import { createHash } from 'node:crypto';
import { exactText } from '../../../pdata/exact-json.ts';
import { otlpJson } from '../../../pdata/otlp-json.ts';
import type { StoredText } from '../../../pdata/stored-text.ts';
import type { Conversion } from '../server/row-thread.ts';
import { UNKNOWN_SERVICE } from './search-question.ts';

const NS_PER_US = 1000n;
/** The id of a process is 48 bits of the hash of its attributes. */
const PROCESS_DIGITS = 12;
const KINDS = ['', 'internal', 'server', 'client', 'producer', 'consumer'];
const STATUSES = ['', 'OK', 'ERROR'];

export interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number | string;
  readonly bytesValue?: string;
  readonly arrayValue?: { readonly values?: readonly AnyValue[] };
  readonly kvlistValue?: { readonly values?: readonly KeyValue[] };
}

export interface KeyValue {
  readonly key: string;
  readonly value?: AnyValue;
}

export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly flags?: number;
  readonly name?: string;
  readonly kind?: number;
  readonly startTimeUnixNano?: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: readonly KeyValue[];
  readonly events?: readonly {
    readonly name?: string;
    readonly timeUnixNano?: string;
    readonly attributes?: readonly KeyValue[];
  }[];
  readonly links?: readonly { readonly traceId?: string; readonly spanId?: string }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

export interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource?: { readonly attributes?: readonly KeyValue[] };
    readonly scopeSpans: readonly {
      readonly scope?: { readonly name?: string; readonly version?: string };
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

interface Tag {
  readonly key: string;
  readonly type: 'string' | 'bool' | 'int64' | 'float64' | 'binary';
  readonly value: string | boolean | number;
}

/** Some spans of a trace as JSON texts. */
export interface JaegerSpans {
  readonly spans: readonly string[];
  /**
   * By the id that the spans name. It is made from the resource, so parts with the same resource name the same process.
   */
  readonly processes: ReadonlyMap<string, string>;
}

/** Exported for the thread that converts rows. */
export function jaegerSpans(rows: readonly StoredText[]): JaegerSpans {
  const { resourceSpans } = JSON.parse(otlpJson('traces', rows)) as OtlpRequest;
  const processes = new Map<string, string>();
  const spans: string[] = [];
  for (const { resource, scopeSpans } of resourceSpans) {
    const attributes = resource?.attributes ?? [];
    const id = `p${createHash('sha256').update(JSON.stringify(attributes)).digest('hex').slice(0, PROCESS_DIGITS)}`;
    processes.set(id, processOf(attributes));
    for (const { scope, spans: ofScope } of scopeSpans)
      for (const span of ofScope) spans.push(JSON.stringify(spanOf(span, scope ?? {}, id)));
  }
  return { spans, processes };
}

export const JAEGER_SPANS: Conversion<JaegerSpans> = { module: import.meta.url, convert: jaegerSpans };

function processOf(attributes: readonly KeyValue[]): string {
  const name = attributes.find((each) => each.key === 'service.name')?.value?.stringValue;
  const tags = attributes.filter((each) => each.key !== 'service.name').map(tagOf);
  return JSON.stringify({ serviceName: name ?? UNKNOWN_SERVICE, tags });
}

/** The text of one trace, from its parts. */
export class JaegerTrace {
  readonly #traceId: string;
  readonly #processes = new Map<string, string>();
  readonly #spans: string[] = [];
  readonly #warnings: string[] = [];

  constructor(traceId: string) {
    this.#traceId = traceId;
  }

  add({ spans, processes }: JaegerSpans): void {
    for (const span of spans) this.#spans.push(span);
    for (const [id, process] of processes) this.#processes.set(id, process);
  }

  warn(message: string): void {
    this.#warnings.push(message);
  }

  /** JSON text. */
  text(): string {
    const warnings = this.#warnings.length === 0 ? null : this.#warnings;
    const processes = [...this.#processes].map(([id, process]) => `"${id}":${process}`);
    return [
      `{"traceID":${JSON.stringify(this.#traceId)},"spans":[${this.#spans.join(',')}]`,
      `"processes":{${processes.join(',')}},"warnings":${JSON.stringify(warnings)}}`,
    ].join(',');
  }
}

interface Scope {
  readonly name?: string;
  readonly version?: string;
}

function spanOf(span: OtlpSpan, scope: Scope, processID: string): object {
  const { traceId: traceID, spanId: spanID, parentSpanId, links = [], events = [] } = span;
  const start = BigInt(span.startTimeUnixNano ?? '0');
  const end = span.endTimeUnixNano === undefined ? start : BigInt(span.endTimeUnixNano);
  const followed = links.map((link) => ({ refType: 'FOLLOWS_FROM', traceID: link.traceId, spanID: link.spanId }));
  return {
    ...{ traceID, spanID },
    flags: (span.flags ?? 1) & 1,
    operationName: span.name ?? '',
    references: [
      ...(parentSpanId === undefined ? [] : [{ refType: 'CHILD_OF', traceID, spanID: parentSpanId }]),
      ...followed,
    ],
    startTime: microseconds(start),
    duration: end > start ? microseconds(end - start) : 0,
    tags: [...(span.attributes ?? []).map(tagOf), ...fieldTags(span, scope)],
    logs: events.map(({ name = '', timeUnixNano = '0', attributes = [] }) => ({
      timestamp: microseconds(BigInt(timeUnixNano)),
      fields: [...(name === '' ? [] : [tag('event', name)]), ...attributes.map(tagOf)],
    })),
    processID,
    warnings: null,
  };
}

/** What OTLP has as fields and Jaeger has as tags. */
function fieldTags({ kind = 0, status = {}, traceState = '' }: OtlpSpan, scope: Scope): readonly Tag[] {
  const code = STATUSES[status.code ?? 0] ?? '';
  const texts = [
    ['span.kind', KINDS[kind] ?? ''],
    ['otel.status_code', code],
    ['otel.status_description', status.message ?? ''],
    ['otel.scope.name', scope.name ?? ''],
    ['otel.scope.version', scope.version ?? ''],
    ['w3c.tracestate', traceState],
  ] as const;
  const error: readonly Tag[] = code === 'ERROR' ? [{ key: 'error', type: 'bool', value: true }] : [];
  return [...texts.flatMap(([key, value]) => (value === '' ? [] : [tag(key, value)])), ...error];
}

const microseconds = (ns: bigint): number => Number(ns / NS_PER_US);
const tag = (key: string, value: string): Tag => ({ key, type: 'string', value });

function tagOf({ key, value = {} }: KeyValue): Tag {
  if (value.stringValue !== undefined) return tag(key, value.stringValue);
  if (value.boolValue !== undefined) return { key, type: 'bool', value: value.boolValue };
  if (value.intValue !== undefined) {
    const number = Number(value.intValue);
    return { key, type: 'int64', value: Number.isSafeInteger(number) ? number : value.intValue };
  }
  if (typeof value.doubleValue === 'number') return { key, type: 'float64', value: value.doubleValue };
  if (value.bytesValue !== undefined) return { key, type: 'binary', value: value.bytesValue };
  const plain = plainOf(value);
  return tag(key, plain === null ? '' : typeof plain === 'string' ? plain : exactText(plain));
}

/** Lists and objects are shown as JSON. */
function plainOf(value: AnyValue): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainOf);
  if (value.kvlistValue !== undefined)
    return Object.fromEntries((value.kvlistValue.values ?? []).map((each) => [each.key, plainOf(each.value ?? {})]));
  const integer = value.intValue === undefined ? undefined : BigInt(value.intValue);
  return value.stringValue ?? value.boolValue ?? integer ?? value.doubleValue ?? value.bytesValue ?? null;
}
