/**
 * Data points: a record row each, and a point row for points with more than a single number. This file has the fields
 * of all four messages (under different field numbers); the fields of one message are in histograms.ts.
 */
import * as layout from '../../layout';
import { beginList } from '../symbols';
import { appendEvent, appendPoint, appendRecord, countOf, storeRange } from '../tables';
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
import * as reader from './reader';
import { checkTime } from './scalars';

// NumberDataPoint { start 2, time 3, as_double 4, exemplars 5, as_int 6, attributes 7, flags 8 }
const NUMBER_FIELDS: u32 = 0x1fc;

function isNumber(type: u32): bool {
  return type == layout.METRIC_GAUGE || type == layout.METRIC_SUM;
}

function attributesField(type: u32): u32 {
  if (type == layout.METRIC_HISTOGRAM) return 9;
  return type == layout.METRIC_EXPONENTIAL_HISTOGRAM ? 1 : 7;
}

function flagsField(type: u32): u32 {
  return type == layout.METRIC_HISTOGRAM || type == layout.METRIC_EXPONENTIAL_HISTOGRAM ? 10 : 8;
}

/** 0, which is no field number, for summaries. */
function exemplarsField(type: u32): u32 {
  if (type == layout.METRIC_HISTOGRAM) return 8;
  if (type == layout.METRIC_EXPONENTIAL_HISTOGRAM) return 11;
  return type == layout.METRIC_SUMMARY ? 0 : 5;
}

export function indexPoint(type: u32, start: usize, end: usize, metric: u32, resource: u32, scope: u32): void {
  const row = appendRecord(start);
  const point: usize = isNumber(type) ? 0 : newPoint(type, row, start);
  const list = beginList();
  const firstAttribute = nextAttribute();
  const firstExemplar = countOf(layout.HEADER_EVENTS);
  const attributesTag = reader.bytesTag(attributesField(type));
  const exemplarsTag = exemplarsField(type) ? reader.bytesTag(exemplarsField(type)) : 0;
  const flagsTag = reader.varintTag(flagsField(type));
  let key: u32 = 0;
  let at = start;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == attributesTag) {
      const last = reader.readEnd(at, end);
      key = indexAttribute(reader.after(at), last, list, key);
      at = last;
    } else if (tag == reader.fixed64Tag(2)) {
      store<u64>(row, reader.readFixed64(at, end), layout.RECORD_START);
      at += 8;
    } else if (tag == reader.fixed64Tag(3)) {
      store<u64>(row, reader.readFixed64(at, end), layout.RECORD_END);
      at += 8;
    } else if (tag == flagsTag) {
      store<u32>(row, <u32>reader.readVarint(at, end), layout.RECORD_FLAGS);
      at = reader.after(at);
    } else if (tag == exemplarsTag && tag != 0) {
      const last = reader.readEnd(at, end);
      noteExemplar(reader.after(at), last);
      at = last;
    } else at = indexPointField(type, tag, at, end, row, point);
  }
  reader.closeMessage(at, end);
  checkTime(load<u64>(row, layout.RECORD_START), at);
  checkTime(load<u64>(row, layout.RECORD_END), at);
  storeRange(row + layout.RECORD_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
  store<u32>(row, resource, layout.RECORD_RESOURCE);
  store<u32>(row, scope, layout.RECORD_SCOPE);
  store<u32>(row, metric, layout.RECORD_METRIC);
  if (type == layout.METRIC_HISTOGRAM) collectHistogram(start, end, point);
  else if (type == layout.METRIC_SUMMARY) collectSummary(start, end, point);
  indexExemplars(row, firstExemplar);
}

function newPoint(type: u32, row: usize, at: usize): usize {
  const point = appendPoint(at);
  store<u32>(row, countOf(layout.HEADER_POINTS), layout.RECORD_POINT);
  if (type == layout.METRIC_SUMMARY) startSummary(point);
  return point;
}

function indexPointField(type: u32, tag: u32, at: usize, end: usize, row: usize, point: usize): usize {
  if (type == layout.METRIC_HISTOGRAM) return indexHistogramField(tag, at, end, point);
  if (type == layout.METRIC_EXPONENTIAL_HISTOGRAM) return indexExponentialField(tag, at, end, point);
  if (type == layout.METRIC_SUMMARY) return indexSummaryField(tag, at, end, point);
  return indexNumberField(tag, at, end, row);
}

/** The last member of the oneof is used. */
function indexNumberField(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag == reader.fixed64Tag(4)) store<u8>(row, layout.POINT_VALUE_DOUBLE, layout.RECORD_KIND);
  else if (tag == reader.fixed64Tag(6)) store<u8>(row, layout.POINT_VALUE_INT, layout.RECORD_KIND);
  else return reader.skipUnknown(tag, at, end, NUMBER_FIELDS);
  store<u64>(row, reader.readFixed64(at, end), layout.RECORD_VALUE);
  return at + 8;
}

/** Exemplars are indexed after the point, so that its attributes are adjacent. */
function noteExemplar(start: usize, end: usize): void {
  const exemplar = appendEvent(start);
  store<u32>(exemplar, start, layout.EVENT_SOURCE_START);
  store<u32>(exemplar, end, layout.EVENT_SOURCE_END);
}

function indexExemplars(row: usize, first: u32): void {
  storeRange(row + layout.RECORD_EVENTS_FIRST, layout.HEADER_EVENTS, first);
  for (let i = first; i < countOf(layout.HEADER_EVENTS); i++)
    indexExemplar(<usize>layout.EVENTS_BASE + <usize>i * layout.EVENT_STRIDE);
}
