/** Metrics: the fields that all their data points share. The points are in points.ts. */
import * as layout from '../../layout';
import { beginList } from '../symbols';
import { appendMetric, countOf, storeRange } from '../tables';
import { indexAttribute, nextAttribute } from './attributes';
import { indexPoint } from './points';
import { after, bytesTag, closeMessage, readEnd, readTag, readVarint, skipUnknown, varintTag } from './reader';
import { knownEnum } from './scalars';
import { storeText } from './value';

// Metric { name 1, description 2, unit 3, gauge 5, sum 7, histogram 9, exponential_histogram 10, summary 11, metadata
// 12 }
const METRIC_FIELDS: u32 = 0x1eae;
// Gauge, Summary { data_points 1 }; histograms add { aggregation_temporality 2 }, Sum also { is_monotonic 3 }
const POINTS_FIELDS: u32 = 1 << 1;
const TEMPORAL_FIELDS: u32 = POINTS_FIELDS | (1 << 2);
const SUM_FIELDS: u32 = TEMPORAL_FIELDS | (1 << 3);

const HIGHEST_TEMPORALITY: u32 = 2;

/** The metric type that a field of Metric holds. */
function typeOf(tag: u32): u32 {
  if (tag == bytesTag(5)) return layout.METRIC_GAUGE;
  if (tag == bytesTag(7)) return layout.METRIC_SUM;
  if (tag == bytesTag(9)) return layout.METRIC_HISTOGRAM;
  if (tag == bytesTag(10)) return layout.METRIC_EXPONENTIAL_HISTOGRAM;
  if (tag == bytesTag(11)) return layout.METRIC_SUMMARY;
  return layout.METRIC_NONE;
}

/** Appends a metric and a record for each of its data points. */
export function indexMetric(start: usize, end: usize, resource: u32, scope: u32): void {
  const metric = countOf(layout.HEADER_METRICS);
  const row = appendMetric(start);
  const list = beginList();
  const firstAttribute = nextAttribute();
  let hasData = false;
  let key: u32 = 0;
  let at = start;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if ((tag & 7) == 2) {
      const last = readEnd(at, end);
      const content = after(at);
      if (tag == bytesTag(12)) key = indexAttribute(content, last, list, key);
      else if (typeOf(tag) != layout.METRIC_NONE) hasData = true;
      else if (!indexMetricText(tag, content, last, row)) skipUnknown(tag, at, end, METRIC_FIELDS);
      at = last;
    } else at = skipUnknown(tag, at, end, METRIC_FIELDS);
  }
  closeMessage(at, end);
  storeRange(row + layout.METRIC_ATTRIBUTES_FIRST, layout.HEADER_ATTRIBUTES, firstAttribute);
  if (hasData) indexMembers(start, end, row, metric, resource, scope);
}

function indexMetricText(tag: u32, start: usize, last: usize, row: usize): bool {
  if (tag == bytesTag(1)) {
    storeText(row, start, last, layout.METRIC_NAME_OFFSET, layout.METRIC_NAME_FLAGS);
  } else if (tag == bytesTag(2)) {
    storeText(row, start, last, layout.METRIC_DESCRIPTION_OFFSET, layout.METRIC_DESCRIPTION_FLAGS);
  } else if (tag == bytesTag(3)) {
    storeText(row, start, last, layout.METRIC_UNIT_OFFSET, layout.METRIC_UNIT_FLAGS);
  } else return false;
  return true;
}

/**
 * Walks a checked Metric again for the members of its oneof. The last one is used: each one of another type starts at
 * the rows of the first, so that nothing of the earlier ones remains. A repeated one is merged: it adds its points.
 */
function indexMembers(at: usize, end: usize, row: usize, metric: u32, resource: u32, scope: u32): void {
  const records = countOf(layout.HEADER_RECORDS);
  const attributes = countOf(layout.HEADER_ATTRIBUTES);
  const exemplars = countOf(layout.HEADER_EVENTS);
  const points = countOf(layout.HEADER_POINTS);
  const numbers = countOf(layout.HEADER_NUMBERS);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    const type = typeOf(tag);
    if (type == layout.METRIC_NONE) {
      at = skipUnknown(tag, at, end, 0);
      continue;
    }
    if (type != <u32>load<u8>(row, layout.METRIC_TYPE)) {
      store<u32>(layout.HEADER_BASE, records, layout.HEADER_RECORDS);
      store<u32>(layout.HEADER_BASE, attributes, layout.HEADER_ATTRIBUTES);
      store<u32>(layout.HEADER_BASE, exemplars, layout.HEADER_EVENTS);
      store<u32>(layout.HEADER_BASE, points, layout.HEADER_POINTS);
      store<u32>(layout.HEADER_BASE, numbers, layout.HEADER_NUMBERS);
      store<u8>(row, type, layout.METRIC_TYPE);
      store<u8>(row, 0, layout.METRIC_TEMPORALITY);
      store<u8>(row, 0, layout.METRIC_MONOTONIC);
    }
    const last = readEnd(at, end);
    indexData(type, after(at), last, row, metric, resource, scope);
    at = last;
  }
}

function indexData(type: u32, at: usize, end: usize, row: usize, metric: u32, resource: u32, scope: u32): void {
  let known = TEMPORAL_FIELDS;
  if (type == layout.METRIC_GAUGE || type == layout.METRIC_SUMMARY) known = POINTS_FIELDS;
  else if (type == layout.METRIC_SUM) known = SUM_FIELDS;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      indexPoint(type, after(at), last, metric, resource, scope);
      at = last;
    } else if (tag == varintTag(2) && known != POINTS_FIELDS) {
      store<u8>(row, knownEnum(readVarint(at, end), HIGHEST_TEMPORALITY), layout.METRIC_TEMPORALITY);
      at = after(at);
    } else if (tag == varintTag(3) && known == SUM_FIELDS) {
      store<u8>(row, <u32>(readVarint(at, end) != 0), layout.METRIC_MONOTONIC);
      at = after(at);
    } else at = skipUnknown(tag, at, end, known);
  }
  closeMessage(at, end);
}
