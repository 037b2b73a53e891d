/** Small OTLP/JSON requests as plain objects that a test can change. */
import { randomId } from './random-ids.ts';

export const START_NS = 1763720000000000000n;

export const newTraceId = (): string => randomId(16);
export const newSpanId = (): string => randomId(8);

export interface SpanSketch {
  readonly traceId?: string;
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly name?: string;
  readonly start?: bigint;
  readonly end?: bigint;
  readonly attributes?: Readonly<Record<string, string | number | boolean>>;
}

const attribute = (key: string, value: string | number | boolean): object => {
  if (typeof value === 'string') return { key, value: { stringValue: value } };
  if (typeof value === 'boolean') return { key, value: { boolValue: value } };
  return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
};

export const attributes = (values: Readonly<Record<string, string | number | boolean>>): object[] =>
  Object.entries(values).map(([key, value]) => attribute(key, value));

export function aSpan(sketch: SpanSketch = {}): object {
  const start = sketch.start ?? START_NS;
  return {
    traceId: sketch.traceId ?? newTraceId(),
    spanId: sketch.spanId ?? newSpanId(),
    ...(sketch.parentSpanId === undefined ? {} : { parentSpanId: sketch.parentSpanId }),
    name: sketch.name ?? 'work',
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(sketch.end ?? start + 1000000n),
    attributes: attributes(sketch.attributes ?? {}),
  };
}

/** An ExportTraceServiceRequest with one resource and one scope. */
export function aTraceRequest(
  spans: readonly object[],
  resource: Readonly<Record<string, string>> = { 'service.name': 'shop' },
  scope: object = { name: 'test' },
): object {
  return { resourceSpans: [{ resource: { attributes: attributes(resource) }, scopeSpans: [{ scope, spans }] }] };
}

export function aLogRequest(
  records: readonly object[],
  resource: Readonly<Record<string, string>> = { 'service.name': 'shop' },
): object {
  return {
    resourceLogs: [
      { resource: { attributes: attributes(resource) }, scopeLogs: [{ scope: { name: 'test' }, logRecords: records }] },
    ],
  };
}

export function aMetricRequest(
  metrics: readonly object[],
  resource: Readonly<Record<string, string>> = { 'service.name': 'shop' },
): object {
  return {
    resourceMetrics: [
      { resource: { attributes: attributes(resource) }, scopeMetrics: [{ scope: { name: 'test' }, metrics }] },
    ],
  };
}

export const aGauge = (name: string, value: number): object => ({
  name,
  gauge: { dataPoints: [{ timeUnixNano: String(START_NS), asDouble: value }] },
});
