/**
 * The messages of OTLP/JSON: the members of each, how a member is read, and where it is stored. Members are in the
 * order in which the common SDKs write them.
 */
import * as layout from '../../layout';
import { beginMessage, defineMember, endMessages } from './fields';

// How a member is read; `messages.ts` has the code for each. `field` is its place in the row, `more` is named here.
export const TEXT: u32 = 0; // more: the place of the flags
export const ID: u32 = 1; // more: bytes
export const TIME: u32 = 2;
export const COUNT: u32 = 3;
export const ENUM: u32 = 4; // more: the largest number
export const BOOL: u32 = 5;
export const ATTRIBUTES: u32 = 6;
export const BODY: u32 = 7;
export const MESSAGE: u32 = 8; // more: the message, which has the same row
export const LIST: u32 = 9; // more: the message of the elements
export const RANGE: u32 = 10; // the same, with rows that are a range of the table of events or links
export const DATA: u32 = 11; // the one member with the data of a metric. field: its type, more: the message
export const POINTS: u32 = 12;
export const NUMBER_DOUBLE: u32 = 13; // of a point or an exemplar, more: the place of the kind
export const NUMBER_INT: u32 = 14;
// In the row of a point of several numbers.
export const POINT_COUNT: u32 = 15;
export const POINT_SIGNED: u32 = 16;
export const POINT_DOUBLE: u32 = 17; // more: the bit of its presence
export const POINT_COUNTS: u32 = 18;
export const POINT_BOUNDS: u32 = 19;
export const POINT_BUCKETS: u32 = 20; // field: the bit of their presence, more: the message
export const POINT_QUANTILES: u32 = 21;
export const QUANTILE: u32 = 22;
export const QUANTILE_VALUE: u32 = 23;
// Checked like every known member, although they are not stored.
export const CHECKED_TEXT: u32 = 24;
export const CHECKED_TEXTS: u32 = 25;
export const CHECKED_COUNT: u32 = 26;
// Members of attributes and values; `value.ts` and `nested.ts` read them.
export const KEY: u32 = 27;
export const VALUE: u32 = 28;
export const STRING_VALUE: u32 = 29;
export const BOOL_VALUE: u32 = 30;
export const INT_VALUE: u32 = 31;
export const DOUBLE_VALUE: u32 = 32;
export const ARRAY_VALUE: u32 = 33;
export const KVLIST_VALUE: u32 = 34;
export const BYTES_VALUE: u32 = 35;
export const VALUES: u32 = 36;

// The messages by number, those of the signals in the order of the signals.
export const TRACES_REQUEST: u32 = 0;
export const RESOURCE_SPANS_MESSAGE: u32 = 3;
export const RESOURCE_METRICS_MESSAGE: u32 = 5;
export const SCOPE_SPANS_MESSAGE: u32 = 6;
export const SCOPE_METRICS_MESSAGE: u32 = 8;
const RESOURCE_MESSAGE: u32 = 9;
const SCOPE_MESSAGE: u32 = 10;
export const SPAN_MESSAGE: u32 = 11;
export const LOG_RECORD_MESSAGE: u32 = 12;
export const METRIC_MESSAGE: u32 = 13;
export const EVENT_MESSAGE: u32 = 14;
export const LINK_MESSAGE: u32 = 15;
const STATUS_MESSAGE: u32 = 16;
const GAUGE_MESSAGE: u32 = 17;
const SUM_MESSAGE: u32 = 18;
const HISTOGRAM_MESSAGE: u32 = 19;
export const NUMBER_POINT_MESSAGE: u32 = 20;
export const HISTOGRAM_POINT_MESSAGE: u32 = 21;
export const EXPONENTIAL_POINT_MESSAGE: u32 = 22;
export const SUMMARY_POINT_MESSAGE: u32 = 23;
const POSITIVE_MESSAGE: u32 = 24;
const NEGATIVE_MESSAGE: u32 = 25;
export const QUANTILE_MESSAGE: u32 = 26;
export const EXEMPLAR_MESSAGE: u32 = 27;
export const KEY_VALUE_MESSAGE: u32 = 28;
export const ANY_VALUE_MESSAGE: u32 = 29;
export const LIST_MESSAGE: u32 = 30;
const ENTITY_REF_MESSAGE: u32 = 31;

// The largest numbers of the enums.
const LAST_KIND: u32 = 5;
const LAST_STATUS: u32 = 2;
const LAST_SEVERITY: u32 = 24;
const LAST_TEMPORALITY: u32 = 2;

/** Lays out all messages; once per process. */
export function defineMessages(): void {
  defineBlocks(layout.SIGNAL_TRACES, 'resourceSpans', 'scopeSpans', 'spans', SPAN_MESSAGE);
  defineBlocks(layout.SIGNAL_LOGS, 'resourceLogs', 'scopeLogs', 'logRecords', LOG_RECORD_MESSAGE);
  defineBlocks(layout.SIGNAL_METRICS, 'resourceMetrics', 'scopeMetrics', 'metrics', METRIC_MESSAGE);
  defineOwners();
  defineSpans();
  defineLogs();
  defineMetrics();
  definePoints();
  defineValues();
  endMessages();
}

function defineBlocks(signal: u32, resources: string, scopes: string, records: string, record: u32): void {
  beginMessage(TRACES_REQUEST + signal);
  defineMember(resources, LIST, 0, RESOURCE_SPANS_MESSAGE + signal);
  beginMessage(RESOURCE_SPANS_MESSAGE + signal);
  defineMember('resource', MESSAGE, 0, RESOURCE_MESSAGE);
  defineMember(scopes, LIST, 0, SCOPE_SPANS_MESSAGE + signal);
  defineMember('schemaUrl', CHECKED_TEXT);
  beginMessage(SCOPE_SPANS_MESSAGE + signal);
  defineMember('scope', MESSAGE, 0, SCOPE_MESSAGE);
  defineMember(records, LIST, 0, record);
  defineMember('schemaUrl', CHECKED_TEXT);
}

function defineOwners(): void {
  beginMessage(RESOURCE_MESSAGE);
  defineMember('attributes', ATTRIBUTES, layout.RESOURCE_ATTRIBUTES_FIRST);
  defineMember('droppedAttributesCount', CHECKED_COUNT);
  defineMember('entityRefs', LIST, 0, ENTITY_REF_MESSAGE);
  beginMessage(ENTITY_REF_MESSAGE);
  defineMember('schemaUrl', CHECKED_TEXT);
  defineMember('type', CHECKED_TEXT);
  defineMember('idKeys', CHECKED_TEXTS);
  defineMember('descriptionKeys', CHECKED_TEXTS);
  beginMessage(SCOPE_MESSAGE);
  defineMember('name', TEXT, layout.SCOPE_NAME_OFFSET, layout.SCOPE_NAME_FLAGS);
  defineMember('version', TEXT, layout.SCOPE_VERSION_OFFSET, layout.SCOPE_VERSION_FLAGS);
  defineMember('attributes', ATTRIBUTES, layout.SCOPE_ATTRIBUTES_FIRST);
  defineMember('droppedAttributesCount', CHECKED_COUNT);
}

function defineSpans(): void {
  beginMessage(SPAN_MESSAGE);
  defineMember('traceId', ID, layout.RECORD_TRACE_ID, 16);
  defineMember('spanId', ID, layout.RECORD_SPAN_ID, 8);
  defineMember('parentSpanId', ID, layout.RECORD_PARENT_SPAN_ID, 8);
  defineMember('traceState', TEXT, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
  defineMember('name', TEXT, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
  defineMember('kind', ENUM, layout.RECORD_KIND, LAST_KIND);
  defineMember('startTimeUnixNano', TIME, layout.RECORD_START);
  defineMember('endTimeUnixNano', TIME, layout.RECORD_END);
  defineMember('attributes', ATTRIBUTES, layout.RECORD_ATTRIBUTES_FIRST);
  defineMember('droppedAttributesCount', COUNT, layout.RECORD_DROPPED_ATTRIBUTES);
  defineMember('events', RANGE, layout.RECORD_EVENTS_FIRST, EVENT_MESSAGE);
  defineMember('droppedEventsCount', COUNT, layout.RECORD_DROPPED_EVENTS);
  defineMember('status', MESSAGE, 0, STATUS_MESSAGE);
  defineMember('links', RANGE, layout.RECORD_LINKS_FIRST, LINK_MESSAGE);
  defineMember('droppedLinksCount', COUNT, layout.RECORD_DROPPED_LINKS);
  defineMember('flags', COUNT, layout.RECORD_FLAGS);
  beginMessage(STATUS_MESSAGE);
  defineMember('code', ENUM, layout.RECORD_STATUS, LAST_STATUS);
  defineMember('message', TEXT, layout.RECORD_MESSAGE_OFFSET, layout.RECORD_MESSAGE_FLAGS);
  beginMessage(EVENT_MESSAGE);
  defineMember('attributes', ATTRIBUTES, layout.EVENT_ATTRIBUTES_FIRST);
  defineMember('name', TEXT, layout.EVENT_NAME_OFFSET, layout.EVENT_NAME_FLAGS);
  defineMember('timeUnixNano', TIME, layout.EVENT_TIME);
  defineMember('droppedAttributesCount', COUNT, layout.EVENT_DROPPED_ATTRIBUTES);
  beginMessage(LINK_MESSAGE);
  defineMember('attributes', ATTRIBUTES, layout.LINK_ATTRIBUTES_FIRST);
  defineMember('traceId', ID, layout.LINK_TRACE_ID, 16);
  defineMember('spanId', ID, layout.LINK_SPAN_ID, 8);
  defineMember('traceState', TEXT, layout.LINK_STATE_OFFSET, layout.LINK_STATE_FLAGS);
  defineMember('droppedAttributesCount', COUNT, layout.LINK_DROPPED_ATTRIBUTES);
  defineMember('flags', COUNT, layout.LINK_FLAGS);
}

function defineLogs(): void {
  beginMessage(LOG_RECORD_MESSAGE);
  defineMember('timeUnixNano', TIME, layout.RECORD_START);
  defineMember('observedTimeUnixNano', TIME, layout.RECORD_END);
  defineMember('severityNumber', ENUM, layout.RECORD_KIND, LAST_SEVERITY);
  defineMember('severityText', TEXT, layout.RECORD_STATE_OFFSET, layout.RECORD_STATE_FLAGS);
  defineMember('eventName', TEXT, layout.RECORD_NAME_OFFSET, layout.RECORD_NAME_FLAGS);
  defineMember('body', BODY, layout.RECORD_BODY);
  defineMember('attributes', ATTRIBUTES, layout.RECORD_ATTRIBUTES_FIRST);
  defineMember('droppedAttributesCount', COUNT, layout.RECORD_DROPPED_ATTRIBUTES);
  defineMember('flags', COUNT, layout.RECORD_FLAGS);
  defineMember('traceId', ID, layout.RECORD_TRACE_ID, 16);
  defineMember('spanId', ID, layout.RECORD_SPAN_ID, 8);
}

function defineMetrics(): void {
  beginMessage(METRIC_MESSAGE);
  defineMember('name', TEXT, layout.METRIC_NAME_OFFSET, layout.METRIC_NAME_FLAGS);
  defineMember('description', TEXT, layout.METRIC_DESCRIPTION_OFFSET, layout.METRIC_DESCRIPTION_FLAGS);
  defineMember('unit', TEXT, layout.METRIC_UNIT_OFFSET, layout.METRIC_UNIT_FLAGS);
  defineMember('gauge', DATA, layout.METRIC_GAUGE, GAUGE_MESSAGE);
  defineMember('sum', DATA, layout.METRIC_SUM, SUM_MESSAGE);
  defineMember('histogram', DATA, layout.METRIC_HISTOGRAM, HISTOGRAM_MESSAGE);
  defineMember('exponentialHistogram', DATA, layout.METRIC_EXPONENTIAL_HISTOGRAM, HISTOGRAM_MESSAGE);
  defineMember('summary', DATA, layout.METRIC_SUMMARY, GAUGE_MESSAGE);
  defineMember('metadata', ATTRIBUTES, layout.METRIC_ATTRIBUTES_FIRST);
  beginMessage(GAUGE_MESSAGE);
  defineMember('dataPoints', POINTS);
  beginMessage(SUM_MESSAGE);
  defineMember('aggregationTemporality', ENUM, layout.METRIC_TEMPORALITY, LAST_TEMPORALITY);
  defineMember('isMonotonic', BOOL, layout.METRIC_MONOTONIC);
  defineMember('dataPoints', POINTS);
  beginMessage(HISTOGRAM_MESSAGE);
  defineMember('aggregationTemporality', ENUM, layout.METRIC_TEMPORALITY, LAST_TEMPORALITY);
  defineMember('dataPoints', POINTS);
}

function definePoints(): void {
  beginMessage(NUMBER_POINT_MESSAGE);
  defineTimes();
  defineMember('asDouble', NUMBER_DOUBLE, layout.RECORD_VALUE, layout.RECORD_KIND);
  defineMember('asInt', NUMBER_INT, layout.RECORD_VALUE, layout.RECORD_KIND);
  defineExemplars();
  beginMessage(HISTOGRAM_POINT_MESSAGE);
  defineTimes();
  defineMember('bucketCounts', POINT_COUNTS, layout.POINT_BUCKETS_FIRST);
  defineMember('explicitBounds', POINT_BOUNDS, layout.POINT_BOUNDS_FIRST);
  defineFigures();
  defineExemplars();
  beginMessage(EXPONENTIAL_POINT_MESSAGE);
  defineTimes();
  defineFigures();
  defineMember('positive', POINT_BUCKETS, layout.POINT_HAS_POSITIVE, POSITIVE_MESSAGE);
  defineMember('negative', POINT_BUCKETS, layout.POINT_HAS_NEGATIVE, NEGATIVE_MESSAGE);
  defineMember('scale', POINT_SIGNED, layout.POINT_SCALE);
  defineMember('zeroCount', POINT_COUNT, layout.POINT_ZERO_COUNT);
  defineMember('zeroThreshold', POINT_DOUBLE, layout.POINT_ZERO_THRESHOLD);
  defineExemplars();
  beginMessage(SUMMARY_POINT_MESSAGE);
  defineTimes();
  defineMember('count', POINT_COUNT, layout.POINT_COUNT);
  defineMember('sum', POINT_DOUBLE, layout.POINT_SUM, layout.POINT_HAS_SUM);
  defineMember('quantileValues', POINT_QUANTILES, layout.POINT_QUANTILES_FIRST);
  defineMember('flags', COUNT, layout.RECORD_FLAGS);
  defineBuckets(POSITIVE_MESSAGE, layout.POINT_POSITIVE_OFFSET, layout.POINT_POSITIVE_FIRST);
  defineBuckets(NEGATIVE_MESSAGE, layout.POINT_NEGATIVE_OFFSET, layout.POINT_NEGATIVE_FIRST);
  beginMessage(QUANTILE_MESSAGE);
  defineMember('quantile', QUANTILE);
  defineMember('value', QUANTILE_VALUE);
  beginMessage(EXEMPLAR_MESSAGE);
  defineMember('filteredAttributes', ATTRIBUTES, layout.EVENT_ATTRIBUTES_FIRST);
  defineMember('timeUnixNano', TIME, layout.EVENT_TIME);
  defineMember('asDouble', NUMBER_DOUBLE, layout.EVENT_VALUE, layout.EVENT_VALUE_KIND);
  defineMember('asInt', NUMBER_INT, layout.EVENT_VALUE, layout.EVENT_VALUE_KIND);
  defineMember('spanId', ID, layout.EVENT_SPAN_ID, 8);
  defineMember('traceId', ID, layout.EVENT_TRACE_ID, 16);
}

function defineTimes(): void {
  defineMember('attributes', ATTRIBUTES, layout.RECORD_ATTRIBUTES_FIRST);
  defineMember('startTimeUnixNano', TIME, layout.RECORD_START);
  defineMember('timeUnixNano', TIME, layout.RECORD_END);
}

function defineFigures(): void {
  defineMember('count', POINT_COUNT, layout.POINT_COUNT);
  defineMember('sum', POINT_DOUBLE, layout.POINT_SUM, layout.POINT_HAS_SUM);
  defineMember('min', POINT_DOUBLE, layout.POINT_MIN, layout.POINT_HAS_MIN);
  defineMember('max', POINT_DOUBLE, layout.POINT_MAX, layout.POINT_HAS_MAX);
}

function defineExemplars(): void {
  defineMember('exemplars', RANGE, layout.RECORD_EVENTS_FIRST, EXEMPLAR_MESSAGE);
  defineMember('flags', COUNT, layout.RECORD_FLAGS);
}

function defineBuckets(message: u32, offset: usize, counts: usize): void {
  beginMessage(message);
  defineMember('offset', POINT_SIGNED, offset);
  defineMember('bucketCounts', POINT_COUNTS, counts);
}

function defineValues(): void {
  beginMessage(KEY_VALUE_MESSAGE);
  defineMember('key', KEY);
  defineMember('value', VALUE);
  beginMessage(ANY_VALUE_MESSAGE);
  defineMember('stringValue', STRING_VALUE);
  defineMember('boolValue', BOOL_VALUE);
  defineMember('intValue', INT_VALUE);
  defineMember('doubleValue', DOUBLE_VALUE);
  defineMember('arrayValue', ARRAY_VALUE);
  defineMember('kvlistValue', KVLIST_VALUE);
  defineMember('bytesValue', BYTES_VALUE);
  beginMessage(LIST_MESSAGE);
  defineMember('values', VALUES);
}
