/**
 * Encodes the tables as an OTLP request, for forwarding. Each call writes a whole request of some records; the pieces
 * in sequence are one request, because protobuf merges repeated fields by concatenation.
 */
import * as layout from '../../../layout';
import { mayPause } from '../../pause';
import { beginOutput, out } from '../output';
import { beginMessage, endMessage, putNumber, putOptionalText } from './fields';
import { putLog } from './logs';
import { putPoint } from './points';
import { putSpan } from './spans';
import { putAttributes } from './values';

/** The data field of a Metric by METRIC_… type. */
const DATA_FIELDS: StaticArray<u8> = [0, 5, 7, 9, 10, 11];

let signal: u32 = 0;
let count: u32 = 0;

function recordAt(index: u32): usize {
  return <usize>layout.RECORDS_BASE + <usize>index * layout.RECORD_STRIDE;
}

/** Whether the piece continues with the record at `index`, and that record has `row` in `field`. */
function continues(index: u32, field: usize, row: u32): bool {
  return (
    index < count &&
    out - layout.OUTPUT_BASE < <usize>layout.OUTPUT_SOFT_LIMIT &&
    load<u32>(recordAt(index) + field) == row
  );
}

/** Encodes records from `first` on as one request; returns the first record that was not encoded. */
export function encodeOtlp(first: u32): u32 {
  signal = load<u32>(layout.HEADER_BASE, layout.HEADER_SIGNAL);
  count = load<u32>(layout.HEADER_BASE, layout.HEADER_RECORDS);
  beginOutput();
  let next = first;
  while (next < count && out - layout.OUTPUT_BASE < <usize>layout.OUTPUT_SOFT_LIMIT) next = putResource(next);
  store<u32>(layout.HEADER_BASE, <u32>(out - layout.OUTPUT_BASE), layout.HEADER_OUTPUT_LENGTH);
  store<u32>(layout.HEADER_BASE, next - first, layout.HEADER_OUTPUT_ROWS);
  return next;
}

/** ResourceSpans, ResourceLogs or ResourceMetrics: they have the same fields. */
function putResource(next: u32): u32 {
  const resource = load<u32>(recordAt(next), layout.RECORD_RESOURCE);
  const row = <usize>layout.RESOURCES_BASE + <usize>resource * layout.RESOURCE_STRIDE;
  const group = beginMessage(1);
  const message = beginMessage(1);
  putAttributes(1, load<u32>(row, layout.RESOURCE_ATTRIBUTES_FIRST), load<u32>(row, layout.RESOURCE_ATTRIBUTES_COUNT));
  endMessage(message);
  do next = putScope(next);
  while (continues(next, layout.RECORD_RESOURCE, resource));
  endMessage(group);
  return next;
}

function putScope(next: u32): u32 {
  const resource = load<u32>(recordAt(next), layout.RECORD_RESOURCE);
  const scope = load<u32>(recordAt(next), layout.RECORD_SCOPE);
  const row = <usize>layout.SCOPES_BASE + <usize>scope * layout.SCOPE_STRIDE;
  const group = beginMessage(2);
  const message = beginMessage(1);
  putOptionalText(
    1,
    load<u32>(row, layout.SCOPE_NAME_OFFSET),
    load<u32>(row, layout.SCOPE_NAME_LENGTH),
    load<u8>(row, layout.SCOPE_NAME_FLAGS),
  );
  putOptionalText(
    2,
    load<u32>(row, layout.SCOPE_VERSION_OFFSET),
    load<u32>(row, layout.SCOPE_VERSION_LENGTH),
    load<u8>(row, layout.SCOPE_VERSION_FLAGS),
  );
  putAttributes(3, load<u32>(row, layout.SCOPE_ATTRIBUTES_FIRST), load<u32>(row, layout.SCOPE_ATTRIBUTES_COUNT));
  endMessage(message);
  do next = putRecords(next);
  while (continues(next, layout.RECORD_SCOPE, scope) && load<u32>(recordAt(next), layout.RECORD_RESOURCE) == resource);
  endMessage(group);
  return next;
}

/** A span, a log record, or adjacent points of one metric. */
function putRecords(next: u32): u32 {
  mayPause();
  const message = beginMessage(2);
  if (signal == layout.SIGNAL_METRICS) {
    next = putMetric(next);
  } else {
    if (signal == layout.SIGNAL_TRACES) putSpan(recordAt(next));
    else putLog(recordAt(next));
    next += 1;
  }
  endMessage(message);
  return next;
}

function putMetric(next: u32): u32 {
  const metric = load<u32>(recordAt(next), layout.RECORD_METRIC);
  const row = <usize>layout.METRICS_BASE + <usize>metric * layout.METRIC_STRIDE;
  const type = <u32>load<u8>(row, layout.METRIC_TYPE);
  putOptionalText(
    1,
    load<u32>(row, layout.METRIC_NAME_OFFSET),
    load<u32>(row, layout.METRIC_NAME_LENGTH),
    load<u8>(row, layout.METRIC_NAME_FLAGS),
  );
  putOptionalText(
    2,
    load<u32>(row, layout.METRIC_DESCRIPTION_OFFSET),
    load<u32>(row, layout.METRIC_DESCRIPTION_LENGTH),
    load<u8>(row, layout.METRIC_DESCRIPTION_FLAGS),
  );
  putOptionalText(
    3,
    load<u32>(row, layout.METRIC_UNIT_OFFSET),
    load<u32>(row, layout.METRIC_UNIT_LENGTH),
    load<u8>(row, layout.METRIC_UNIT_FLAGS),
  );
  const data = beginMessage(<u32>unchecked(DATA_FIELDS[type]));
  do {
    const point = beginMessage(1);
    putPoint(recordAt(next), type);
    endMessage(point);
    next += 1;
  } while (continues(next, layout.RECORD_METRIC, metric));
  if (type == layout.METRIC_SUM || type == layout.METRIC_HISTOGRAM || type == layout.METRIC_EXPONENTIAL_HISTOGRAM)
    putNumber(2, load<u8>(row, layout.METRIC_TEMPORALITY));
  if (type == layout.METRIC_SUM) putNumber(3, load<u8>(row, layout.METRIC_MONOTONIC));
  endMessage(data);
  putAttributes(12, load<u32>(row, layout.METRIC_ATTRIBUTES_FIRST), load<u32>(row, layout.METRIC_ATTRIBUTES_COUNT));
  return next;
}
