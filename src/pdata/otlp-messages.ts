/** The fields of the OTLP messages: what converts between protobuf and OTLP/JSON needs to know of them. */

export type Scalar =
  | 'text'
  | 'bytes'
  | 'id'
  | 'flag'
  | 'small'
  | 'zigzag'
  | 'integer'
  | 'unsigned'
  | 'fixed'
  | 'signed'
  | 'double'
  | 'word';
/** The JSON name, and the type: a scalar or a message by name. `[]` after the name marks a list. */
export type Field = readonly [name: string, type: Scalar | MessageName];
export type MessageName = keyof typeof MESSAGES;
type Fields = Readonly<Record<number, readonly [name: string, type: string]>>;

const SHARED_POINT = { 2: ['startTimeUnixNano', 'fixed'], 3: ['timeUnixNano', 'fixed'] } as const;
const VALUE_LIST = { 1: ['values[]', 'AnyValue'] } as const;

export const MESSAGES = {
  TracesRequest: { 1: ['resourceSpans[]', 'ResourceSpans'] },
  LogsRequest: { 1: ['resourceLogs[]', 'ResourceLogs'] },
  MetricsRequest: { 1: ['resourceMetrics[]', 'ResourceMetrics'] },
  ResourceSpans: { 1: ['resource', 'Resource'], 2: ['scopeSpans[]', 'ScopeSpans'] },
  ResourceLogs: { 1: ['resource', 'Resource'], 2: ['scopeLogs[]', 'ScopeLogs'] },
  ResourceMetrics: { 1: ['resource', 'Resource'], 2: ['scopeMetrics[]', 'ScopeMetrics'] },
  Resource: { 1: ['attributes[]', 'KeyValue'] },
  ScopeSpans: { 1: ['scope', 'Scope'], 2: ['spans[]', 'Span'] },
  ScopeLogs: { 1: ['scope', 'Scope'], 2: ['logRecords[]', 'LogRecord'] },
  ScopeMetrics: { 1: ['scope', 'Scope'], 2: ['metrics[]', 'Metric'] },
  Scope: { 1: ['name', 'text'], 2: ['version', 'text'], 3: ['attributes[]', 'KeyValue'] },
  KeyValue: { 1: ['key', 'text'], 2: ['value', 'AnyValue'] },
  AnyValue: {
    1: ['stringValue', 'text'],
    2: ['boolValue', 'flag'],
    3: ['intValue', 'integer'],
    4: ['doubleValue', 'double'],
    5: ['arrayValue', 'ArrayValue'],
    6: ['kvlistValue', 'KeyValueList'],
    7: ['bytesValue', 'bytes'],
  },
  ArrayValue: VALUE_LIST,
  KeyValueList: { 1: ['values[]', 'KeyValue'] },
  Span: {
    1: ['traceId', 'id'],
    2: ['spanId', 'id'],
    3: ['traceState', 'text'],
    4: ['parentSpanId', 'id'],
    5: ['name', 'text'],
    6: ['kind', 'small'],
    7: ['startTimeUnixNano', 'fixed'],
    8: ['endTimeUnixNano', 'fixed'],
    9: ['attributes[]', 'KeyValue'],
    10: ['droppedAttributesCount', 'small'],
    11: ['events[]', 'Event'],
    12: ['droppedEventsCount', 'small'],
    13: ['links[]', 'Link'],
    14: ['droppedLinksCount', 'small'],
    15: ['status', 'Status'],
    16: ['flags', 'word'],
  },
  Event: {
    1: ['timeUnixNano', 'fixed'],
    2: ['name', 'text'],
    3: ['attributes[]', 'KeyValue'],
    4: ['droppedAttributesCount', 'small'],
  },
  Link: {
    1: ['traceId', 'id'],
    2: ['spanId', 'id'],
    3: ['traceState', 'text'],
    4: ['attributes[]', 'KeyValue'],
    5: ['droppedAttributesCount', 'small'],
    6: ['flags', 'word'],
  },
  Status: { 2: ['message', 'text'], 3: ['code', 'small'] },
  LogRecord: {
    1: ['timeUnixNano', 'fixed'],
    2: ['severityNumber', 'small'],
    3: ['severityText', 'text'],
    5: ['body', 'AnyValue'],
    6: ['attributes[]', 'KeyValue'],
    7: ['droppedAttributesCount', 'small'],
    8: ['flags', 'word'],
    9: ['traceId', 'id'],
    10: ['spanId', 'id'],
    11: ['observedTimeUnixNano', 'fixed'],
    12: ['eventName', 'text'],
  },
  Metric: {
    1: ['name', 'text'],
    2: ['description', 'text'],
    3: ['unit', 'text'],
    5: ['gauge', 'Numbers'],
    7: ['sum', 'Numbers'],
    9: ['histogram', 'Histogram'],
    10: ['exponentialHistogram', 'ExponentialHistogram'],
    11: ['summary', 'Summary'],
    12: ['metadata[]', 'KeyValue'],
  },
  Numbers: {
    1: ['dataPoints[]', 'NumberPoint'],
    2: ['aggregationTemporality', 'small'],
    3: ['isMonotonic', 'flag'],
  },
  Histogram: { 1: ['dataPoints[]', 'HistogramPoint'], 2: ['aggregationTemporality', 'small'] },
  ExponentialHistogram: { 1: ['dataPoints[]', 'ExponentialPoint'], 2: ['aggregationTemporality', 'small'] },
  Summary: { 1: ['dataPoints[]', 'SummaryPoint'] },
  NumberPoint: {
    ...SHARED_POINT,
    4: ['asDouble', 'double'],
    5: ['exemplars[]', 'Exemplar'],
    6: ['asInt', 'signed'],
    7: ['attributes[]', 'KeyValue'],
    8: ['flags', 'small'],
  },
  HistogramPoint: {
    ...SHARED_POINT,
    4: ['count', 'fixed'],
    5: ['sum', 'double'],
    6: ['bucketCounts[]', 'fixed'],
    7: ['explicitBounds[]', 'double'],
    8: ['exemplars[]', 'Exemplar'],
    9: ['attributes[]', 'KeyValue'],
    10: ['flags', 'small'],
    11: ['min', 'double'],
    12: ['max', 'double'],
  },
  ExponentialPoint: {
    1: ['attributes[]', 'KeyValue'],
    ...SHARED_POINT,
    4: ['count', 'fixed'],
    5: ['sum', 'double'],
    6: ['scale', 'zigzag'],
    7: ['zeroCount', 'fixed'],
    8: ['positive', 'Buckets'],
    9: ['negative', 'Buckets'],
    10: ['flags', 'small'],
    11: ['exemplars[]', 'Exemplar'],
    12: ['min', 'double'],
    13: ['max', 'double'],
    14: ['zeroThreshold', 'double'],
  },
  Buckets: { 1: ['offset', 'zigzag'], 2: ['bucketCounts[]', 'unsigned'] },
  SummaryPoint: {
    ...SHARED_POINT,
    4: ['count', 'fixed'],
    5: ['sum', 'double'],
    6: ['quantileValues[]', 'Quantile'],
    7: ['attributes[]', 'KeyValue'],
    8: ['flags', 'small'],
  },
  Quantile: { 1: ['quantile', 'double'], 2: ['value', 'double'] },
  Exemplar: {
    2: ['timeUnixNano', 'fixed'],
    3: ['asDouble', 'double'],
    4: ['spanId', 'id'],
    5: ['traceId', 'id'],
    6: ['asInt', 'signed'],
    7: ['filteredAttributes[]', 'KeyValue'],
  },
} as const satisfies Readonly<Record<string, Fields>>;
