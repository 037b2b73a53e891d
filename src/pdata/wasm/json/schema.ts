/** The members of OTLP/JSON messages by number, their names, and the members of each message. */
export const RESOURCE_SPANS: u8 = 1;
export const RESOURCE_LOGS: u8 = 2;
export const RESOURCE_METRICS: u8 = 3;
export const RESOURCE: u8 = 4;
export const SCOPE_SPANS: u8 = 5;
export const SCOPE_LOGS: u8 = 6;
export const SCOPE_METRICS: u8 = 7;
export const SCHEMA_URL: u8 = 8;
export const SCOPE: u8 = 9;
export const SPANS: u8 = 10;
export const LOG_RECORDS: u8 = 11;
export const METRICS: u8 = 12;
export const ATTRIBUTES: u8 = 13;
export const DROPPED_ATTRIBUTES_COUNT: u8 = 14;
export const NAME: u8 = 15;
export const VERSION: u8 = 16;
export const TRACE_ID: u8 = 17;
export const SPAN_ID: u8 = 18;
export const PARENT_SPAN_ID: u8 = 19;
export const TRACE_STATE: u8 = 20;
export const FLAGS: u8 = 21;
export const KIND: u8 = 22;
export const START_TIME_UNIX_NANO: u8 = 23;
export const END_TIME_UNIX_NANO: u8 = 24;
export const EVENTS: u8 = 25;
export const DROPPED_EVENTS_COUNT: u8 = 26;
export const LINKS: u8 = 27;
export const DROPPED_LINKS_COUNT: u8 = 28;
export const STATUS: u8 = 29;
export const TIME_UNIX_NANO: u8 = 30;
export const MESSAGE: u8 = 31;
export const CODE: u8 = 32;
export const KEY: u8 = 33;
export const VALUE: u8 = 34;
export const STRING_VALUE: u8 = 35;
export const BOOL_VALUE: u8 = 36;
export const INT_VALUE: u8 = 37;
export const DOUBLE_VALUE: u8 = 38;
export const ARRAY_VALUE: u8 = 39;
export const KVLIST_VALUE: u8 = 40;
export const BYTES_VALUE: u8 = 41;
export const VALUES: u8 = 42;
export const OBSERVED_TIME_UNIX_NANO: u8 = 43;
export const SEVERITY_NUMBER: u8 = 44;
export const SEVERITY_TEXT: u8 = 45;
export const BODY: u8 = 46;
export const EVENT_NAME: u8 = 47;
export const DESCRIPTION: u8 = 48;
export const UNIT: u8 = 49;
export const GAUGE: u8 = 50;
export const SUM: u8 = 51;
export const HISTOGRAM: u8 = 52;
export const EXPONENTIAL_HISTOGRAM: u8 = 53;
export const SUMMARY: u8 = 54;
export const METADATA: u8 = 55;
export const DATA_POINTS: u8 = 56;
export const AGGREGATION_TEMPORALITY: u8 = 57;
export const IS_MONOTONIC: u8 = 58;
export const AS_DOUBLE: u8 = 59;
export const AS_INT: u8 = 60;
export const EXEMPLARS: u8 = 61;
export const COUNT: u8 = 62;
export const BUCKET_COUNTS: u8 = 63;
export const EXPLICIT_BOUNDS: u8 = 64;
export const MIN: u8 = 65;
export const MAX: u8 = 66;
export const SCALE: u8 = 67;
export const ZERO_COUNT: u8 = 68;
export const POSITIVE: u8 = 69;
export const NEGATIVE: u8 = 70;
export const ZERO_THRESHOLD: u8 = 71;
export const OFFSET: u8 = 72;
export const QUANTILE_VALUES: u8 = 73;
export const QUANTILE: u8 = 74;
export const FILTERED_ATTRIBUTES: u8 = 75;
export const ENTITY_REFS: u8 = 76;
export const TYPE: u8 = 77;
export const ID_KEYS: u8 = 78;
export const DESCRIPTION_KEYS: u8 = 79;

/** The names above, in the order of their numbers. */
export const NAMES: string =
  'resourceSpans resourceLogs resourceMetrics resource scopeSpans scopeLogs scopeMetrics schemaUrl scope spans logRecords metrics ' +
  'attributes droppedAttributesCount name version traceId spanId parentSpanId traceState flags kind startTimeUnixNano ' +
  'endTimeUnixNano events droppedEventsCount links droppedLinksCount status timeUnixNano message code key value stringValue ' +
  'boolValue intValue doubleValue arrayValue kvlistValue bytesValue values observedTimeUnixNano severityNumber severityText body ' +
  'eventName description unit gauge sum histogram exponentialHistogram summary metadata dataPoints aggregationTemporality ' +
  'isMonotonic asDouble asInt exemplars count bucketCounts explicitBounds min max scale zeroCount positive negative ' +
  'zeroThreshold offset quantileValues quantile filteredAttributes entityRefs type idKeys descriptionKeys ';

// The messages by number. Members are in the order in which the common SDKs write them.
export const TRACES_REQUEST: u32 = 0;
export const LOGS_REQUEST: u32 = 1;
export const METRICS_REQUEST: u32 = 2;
export const RESOURCE_SPANS_MESSAGE: u32 = 3;
export const RESOURCE_LOGS_MESSAGE: u32 = 4;
export const RESOURCE_METRICS_MESSAGE: u32 = 5;
export const SCOPE_SPANS_MESSAGE: u32 = 6;
export const SCOPE_LOGS_MESSAGE: u32 = 7;
export const SCOPE_METRICS_MESSAGE: u32 = 8;
export const RESOURCE_MESSAGE: u32 = 9;
export const SCOPE_MESSAGE: u32 = 10;
export const SPAN_MESSAGE: u32 = 11;
export const EVENT_MESSAGE: u32 = 12;
export const LINK_MESSAGE: u32 = 13;
export const STATUS_MESSAGE: u32 = 14;
export const LOG_RECORD_MESSAGE: u32 = 15;
export const METRIC_MESSAGE: u32 = 16;
export const GAUGE_MESSAGE: u32 = 17;
export const SUM_MESSAGE: u32 = 18;
export const HISTOGRAM_MESSAGE: u32 = 19;
export const NUMBER_POINT_MESSAGE: u32 = 20;
export const HISTOGRAM_POINT_MESSAGE: u32 = 21;
export const EXPONENTIAL_POINT_MESSAGE: u32 = 22;
export const SUMMARY_POINT_MESSAGE: u32 = 23;
export const BUCKETS_MESSAGE: u32 = 24;
export const QUANTILE_MESSAGE: u32 = 25;
export const EXEMPLAR_MESSAGE: u32 = 26;
export const KEY_VALUE_MESSAGE: u32 = 27;
export const ANY_VALUE_MESSAGE: u32 = 28;
export const LIST_MESSAGE: u32 = 29;
export const ENTITY_REF_MESSAGE: u32 = 30;
export const MESSAGE_COUNT: u32 = 31;

/** The members of these messages, in their order. A semicolon ends a message. */
export const MEMBERS: string =
  'resourceSpans ;resourceLogs ;resourceMetrics ;resource scopeSpans schemaUrl ;resource scopeLogs schemaUrl ;' +
  'resource scopeMetrics schemaUrl ;scope spans schemaUrl ;scope logRecords schemaUrl ;' +
  'scope metrics schemaUrl ;attributes droppedAttributesCount entityRefs ;' +
  'name version attributes droppedAttributesCount ;' +
  'traceId spanId parentSpanId traceState name kind startTimeUnixNano endTimeUnixNano attributes ' +
  'droppedAttributesCount events droppedEventsCount status links droppedLinksCount flags ;' +
  'attributes name timeUnixNano droppedAttributesCount ;' +
  'attributes traceId spanId traceState droppedAttributesCount flags ;code message ;' +
  'timeUnixNano observedTimeUnixNano severityNumber severityText eventName body attributes ' +
  'droppedAttributesCount flags traceId spanId ;' +
  'name description unit gauge sum histogram exponentialHistogram summary metadata ;dataPoints ;' +
  'aggregationTemporality isMonotonic dataPoints ;aggregationTemporality dataPoints ;' +
  'attributes startTimeUnixNano timeUnixNano asDouble asInt exemplars flags ;' +
  'attributes bucketCounts explicitBounds count sum min max startTimeUnixNano timeUnixNano exemplars flags ;' +
  'attributes count min max sum positive negative scale zeroCount zeroThreshold startTimeUnixNano timeUnixNano ' +
  'exemplars flags ;attributes startTimeUnixNano timeUnixNano count sum quantileValues flags ;' +
  'offset bucketCounts ;quantile value ;filteredAttributes timeUnixNano asDouble asInt spanId traceId ;' +
  'key value ;stringValue boolValue intValue doubleValue arrayValue kvlistValue bytesValue ;values ;' +
  'schemaUrl type idKeys descriptionKeys ;';
