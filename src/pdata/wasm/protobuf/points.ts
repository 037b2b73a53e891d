/**
 * Data points: a record row each, and a point row for points with more than a single number. This file has the fields
 * of all four messages (under different field numbers); the fields of one message are in histograms.ts.
 */
import {
  EVENTS_BASE,
  EVENT_SOURCE_END,
  EVENT_SOURCE_START,
  EVENT_STRIDE,
  HEADER_EVENTS,
  HEADER_POINTS,
  METRIC_EXPONENTIAL_HISTOGRAM,
  METRIC_GAUGE,
  METRIC_HISTOGRAM,
  METRIC_SUM,
  METRIC_SUMMARY,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  RECORD_ATTRIBUTES_COUNT,
  RECORD_ATTRIBUTES_FIRST,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_METRIC,
  RECORD_POINT,
  RECORD_RESOURCE,
  RECORD_SCOPE,
  RECORD_START,
  RECORD_VALUE,
} from '../../layout';
import { beginList } from '../symbols';
import { appendEvent, appendPoint, appendRecord, countOf } from '../tables';
import { indexAttribute, nextAttribute } from './attributes';
import { indexExemplar } from './exemplars';
import {
  collectHistogram,
  collectSummary,
  indexExponentialField,
  indexHistogramField,
  indexSummaryField,
  startSummary,
} from './histograms';
import {
  after,
  bytesTag,
  closeMessage,
  fixed64Tag,
  readEnd,
  readFixed64,
  readTag,
  readVarint,
  skipUnknown,
  varintTag,
} from './reader';
import { checkTime } from './scalars';

// NumberDataPoint { start 2, time 3, as_double 4, exemplars 5, as_int 6, attributes 7, flags 8 }
const NUMBER_FIELDS: u32 = 0x1fc;

// @ts-ignore: decorator
@inline
function isNumber(type: u32): bool {
  return type == METRIC_GAUGE || type == METRIC_SUM;
}

// @ts-ignore: decorator
@inline
function attributesField(type: u32): u32 {
  if (type == METRIC_HISTOGRAM) return 9;
  return type == METRIC_EXPONENTIAL_HISTOGRAM ? 1 : 7;
}

// @ts-ignore: decorator
@inline
function flagsField(type: u32): u32 {
  return type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM ? 10 : 8;
}

/** 0, which is no field number, for summaries. */
// @ts-ignore: decorator
@inline
function exemplarsField(type: u32): u32 {
  if (type == METRIC_HISTOGRAM) return 8;
  if (type == METRIC_EXPONENTIAL_HISTOGRAM) return 11;
  return type == METRIC_SUMMARY ? 0 : 5;
}

export function indexPoint(type: u32, start: usize, end: usize, metric: u32, resource: u32, scope: u32): void {
  const row = appendRecord(start);
  const point: usize = isNumber(type) ? 0 : newPoint(type, row, start);
  const list = beginList();
  const firstAttribute = nextAttribute();
  const firstExemplar = countOf(HEADER_EVENTS);
  const attributesTag = bytesTag(attributesField(type));
  const exemplarsTag = exemplarsField(type) ? bytesTag(exemplarsField(type)) : 0;
  const flagsTag = varintTag(flagsField(type));
  let key: u32 = 0;
  let at = start;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == attributesTag) {
      const last = readEnd(at, end);
      key = indexAttribute(after(at), last, list, key);
      at = last;
    } else if (tag == fixed64Tag(2)) {
      store<u64>(row, readFixed64(at, end), RECORD_START);
      at += 8;
    } else if (tag == fixed64Tag(3)) {
      store<u64>(row, readFixed64(at, end), RECORD_END);
      at += 8;
    } else if (tag == flagsTag) {
      store<u32>(row, <u32>readVarint(at, end), RECORD_FLAGS);
      at = after(at);
    } else if (tag == exemplarsTag && tag != 0) {
      const last = readEnd(at, end);
      noteExemplar(after(at), last);
      at = last;
    } else at = indexPointField(type, tag, at, end, row, point);
  }
  closeMessage(at, end);
  checkTime(load<u64>(row, RECORD_START), at);
  checkTime(load<u64>(row, RECORD_END), at);
  store<u32>(row, firstAttribute, RECORD_ATTRIBUTES_FIRST);
  store<u32>(row, nextAttribute() - firstAttribute, RECORD_ATTRIBUTES_COUNT);
  store<u32>(row, resource, RECORD_RESOURCE);
  store<u32>(row, scope, RECORD_SCOPE);
  store<u32>(row, metric, RECORD_METRIC);
  if (type == METRIC_HISTOGRAM) collectHistogram(start, end, point);
  else if (type == METRIC_SUMMARY) collectSummary(start, end, point);
  indexExemplars(row, firstExemplar);
}

function newPoint(type: u32, row: usize, at: usize): usize {
  const point = appendPoint(at);
  store<u32>(row, countOf(HEADER_POINTS), RECORD_POINT);
  if (type == METRIC_SUMMARY) startSummary(point);
  return point;
}

// @ts-ignore: decorator
@inline
function indexPointField(type: u32, tag: u32, at: usize, end: usize, row: usize, point: usize): usize {
  if (type == METRIC_HISTOGRAM) return indexHistogramField(tag, at, end, point);
  if (type == METRIC_EXPONENTIAL_HISTOGRAM) return indexExponentialField(tag, at, end, point);
  if (type == METRIC_SUMMARY) return indexSummaryField(tag, at, end, point);
  return indexNumberField(tag, at, end, row);
}

/** The last member of the oneof is used. */
function indexNumberField(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == fixed64Tag(4)) store<u8>(row, POINT_VALUE_DOUBLE, RECORD_KIND);
  else if (tag == fixed64Tag(6)) store<u8>(row, POINT_VALUE_INT, RECORD_KIND);
  else return skipUnknown(tag, at, end, NUMBER_FIELDS);
  store<u64>(row, readFixed64(at, end), RECORD_VALUE);
  return at + 8;
}

/** Exemplars are indexed after the point, so that its attributes are adjacent. */
function noteExemplar(start: usize, end: usize): void {
  const exemplar = appendEvent(start);
  store<u32>(exemplar, start, EVENT_SOURCE_START);
  store<u32>(exemplar, end, EVENT_SOURCE_END);
}

function indexExemplars(row: usize, first: u32): void {
  const count = countOf(HEADER_EVENTS) - first;
  store<u32>(row, first, RECORD_EVENTS_FIRST);
  store<u32>(row, count, RECORD_EVENTS_COUNT);
  for (let i = first; i < first + count; i++) indexExemplar(<usize>EVENTS_BASE + <usize>i * EVENT_STRIDE);
}
