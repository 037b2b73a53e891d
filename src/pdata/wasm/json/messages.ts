/** Reads the messages of OTLP/JSON into the tables: `schema.ts` says how each member is read and where it is stored. */
import * as layout from '../../layout';
import { fail, failId } from '../fail';
import * as tables from '../tables';
import { readId } from './binary';
import { fieldOf, moreOf } from './fields';
import {
  boolValue,
  currentMember,
  endOfList,
  firstElement,
  memberKind,
  nextElement,
  nextMember,
  openMessage,
  readBool,
} from './members';
import * as number from './number';
import * as schema from './schema';
import { readText, readTextField } from './text';
import { bodyRow, readAttributes, readBody } from './value';

/** The numbers of the resource and the scope whose block is read: two adjacent fields of a record. */
let owner: u64 = 0;
/** The row of the metric that is read, and the row of its point of several numbers. */
let metric: usize = 0;
let point: usize = 0;

/** Reads the request at `at`; returns the address behind it. */
export function readRequest(at: usize, signal: u32): usize {
  return readMessage(at, schema.TRACES_REQUEST + signal, 0);
}

/**
 * Reads the message at `at` into `row`. A row is allocated when its message begins and others refer to it by its
 * number, so the members of a message may have any order.
 */
function readMessage(at: usize, message: u32, row: usize): usize {
  at = openMessage(at, message);
  while ((at = nextMember(at))) at = readMember(at, row);
  return endOfList;
}

function readMember(at: usize, row: usize): usize {
  const member = currentMember();
  const field = fieldOf(member);
  switch (memberKind) {
    case schema.TEXT:
      return readTextField(at, row, field, moreOf(member));
    case schema.ID:
      return readId(at, row + field, moreOf(member));
    case schema.TIME: {
      at = number.readTime(at);
      store<u64>(row + field, number.integerValue);
      return at;
    }
    case schema.COUNT: {
      at = number.readUnsigned32(at);
      store<u32>(row + field, <u32>number.integerValue);
      return at;
    }
    case schema.ENUM: {
      at = number.readEnum(at, moreOf(member));
      store<u8>(row + field, <u8>number.integerValue);
      return at;
    }
    case schema.BOOL: {
      at = readBool(at);
      store<u8>(row + field, <u8>boolValue);
      return at;
    }
    case schema.ATTRIBUTES:
      return readAttributes(at, row + field);
    case schema.BODY: {
      at = readBody(at);
      store<u32>(row + field, bodyRow + 1);
      return at;
    }
    case schema.MESSAGE:
      return readMessage(at, moreOf(member), row);
    case schema.LIST:
      return readList(at, moreOf(member));
    case schema.RANGE:
      return readRange(at, row + field, moreOf(member));
    case schema.DATA:
      return readData(at, field, moreOf(member));
    case schema.POINTS:
      return readPoints(at);
    case schema.NUMBER_DOUBLE:
    case schema.NUMBER_INT:
      return readOneNumber(at, row + field, row + moreOf(member));
    case schema.CHECKED_TEXT:
      return readText(at);
    case schema.CHECKED_TEXTS: {
      for (let element = firstElement(at); element; ) element = nextElement(readText(element));
      return endOfList;
    }
    case schema.CHECKED_COUNT:
      return number.readUnsigned32(at);
    default:
      return readPointMember(at, member, field);
  }
}

function readList(at: usize, message: u32): usize {
  for (let element = firstElement(at); element; ) element = nextElement(readElement(element, message));
  return endOfList;
}

/** Reads events, links or exemplars, whose range goes to `target`. */
function readRange(at: usize, target: usize, message: u32): usize {
  const header = message == schema.LINK_MESSAGE ? layout.HEADER_LINKS : layout.HEADER_EVENTS;
  const first = tables.countOf(header);
  readList(at, message);
  tables.storeRange(target, header, first);
  return endOfList;
}

/** Reads an element of a list, with a row of its own. */
function readElement(at: usize, message: u32): usize {
  switch (message) {
    case schema.SPAN_MESSAGE:
      return readSpan(at);
    case schema.LOG_RECORD_MESSAGE:
      return readMessage(at, message, appendOwned(at));
    case schema.METRIC_MESSAGE: {
      metric = tables.appendMetric(at);
      return readMessage(at, message, metric);
    }
    case schema.EVENT_MESSAGE:
    case schema.EXEMPLAR_MESSAGE:
      return readMessage(at, message, tables.appendEvent(at));
    case schema.LINK_MESSAGE:
      return readMessage(at, message, tables.appendLink(at));
    default:
      return readBlock(at, message);
  }
}

/** Reads a resource block or a scope block. References to entities have no row. */
function readBlock(at: usize, message: u32): usize {
  let row: usize = 0;
  if (message <= schema.RESOURCE_METRICS_MESSAGE) {
    row = tables.appendResource(at);
    owner = load<u32>(layout.HEADER_BASE, layout.HEADER_RESOURCES) - 1;
  } else if (message <= schema.SCOPE_METRICS_MESSAGE) {
    row = tables.appendScope(at);
    owner = <u64>(<u32>owner) | ((<u64>(load<u32>(layout.HEADER_BASE, layout.HEADER_SCOPES) - 1)) << 32);
  }
  return readMessage(at, message, row);
}

function appendOwned(at: usize): usize {
  const row = tables.appendRecord(at);
  store<u64>(row, owner, layout.RECORD_RESOURCE);
  return row;
}

function readSpan(at: usize): usize {
  const row = appendOwned(at);
  const end = readMessage(at, schema.SPAN_MESSAGE, row);
  if ((load<u64>(row, layout.RECORD_TRACE_ID) | load<u64>(row, layout.RECORD_TRACE_ID + 8)) == 0) failId(at, 0);
  if (load<u64>(row, layout.RECORD_SPAN_ID) == 0) failId(at, 0);
  if (load<u64>(row, layout.RECORD_START) == 0) fail(layout.FAIL_PAYLOAD, at);
  return end;
}

/** Reads the one member that holds the data of the metric. */
function readData(at: usize, type: usize, message: u32): usize {
  if (load<u8>(metric, layout.METRIC_TYPE) != layout.METRIC_NONE) fail(layout.FAIL_JSON, at);
  store<u8>(metric, <u8>type, layout.METRIC_TYPE);
  return readMessage(at, message, metric);
}

function readPoints(at: usize): usize {
  const type = <u32>load<u8>(metric, layout.METRIC_TYPE);
  const index = load<u32>(layout.HEADER_BASE, layout.HEADER_METRICS) - 1;
  for (let element = firstElement(at); element; ) {
    const record = appendOwned(element);
    store<u32>(record, index, layout.RECORD_METRIC);
    element = nextElement(readPoint(element, record, type));
  }
  return endOfList;
}

function readPoint(at: usize, record: usize, type: u32): usize {
  if (type == layout.METRIC_GAUGE || type == layout.METRIC_SUM)
    return readMessage(at, schema.NUMBER_POINT_MESSAGE, record);
  point = tables.appendPoint(at);
  store<u32>(record, load<u32>(layout.HEADER_BASE, layout.HEADER_POINTS), layout.RECORD_POINT);
  if (type == layout.METRIC_HISTOGRAM) return readMessage(at, schema.HISTOGRAM_POINT_MESSAGE, record);
  if (type == layout.METRIC_EXPONENTIAL_HISTOGRAM) return readMessage(at, schema.EXPONENTIAL_POINT_MESSAGE, record);
  // The sum of a summary is not optional.
  store<u32>(point, layout.POINT_HAS_SUM, layout.POINT_HAS);
  return readMessage(at, schema.SUMMARY_POINT_MESSAGE, record);
}

/** Reads `asDouble` or `asInt`: its kind to `kind`, where it also marks presence, and its bits to `target`. */
function readOneNumber(at: usize, target: usize, kind: usize): usize {
  if (load<u8>(kind) != layout.POINT_VALUE_NONE) fail(layout.FAIL_JSON, at);
  if (memberKind == schema.NUMBER_INT) {
    at = number.readSigned(at);
    store<u8>(kind, layout.POINT_VALUE_INT);
    store<u64>(target, number.integerValue);
    return at;
  }
  at = number.readDouble(at);
  store<u8>(kind, layout.POINT_VALUE_DOUBLE);
  store<f64>(target, number.doubleValue);
  return at;
}

/** Reads a member of a point of several numbers. */
function readPointMember(at: usize, member: usize, field: usize): usize {
  switch (memberKind) {
    case schema.POINT_COUNT: {
      at = number.readUnsigned(at);
      store<u64>(point + field, number.integerValue);
      return at;
    }
    case schema.POINT_SIGNED: {
      at = number.readSigned32(at);
      store<u32>(point + field, <u32>number.integerValue);
      return at;
    }
    case schema.POINT_DOUBLE: {
      at = number.readDouble(at);
      store<f64>(point + field, number.doubleValue);
      markPresent(moreOf(member));
      return at;
    }
    case schema.POINT_BUCKETS: {
      markPresent(<u32>field);
      return readMessage(at, moreOf(member), point);
    }
    case schema.POINT_COUNTS:
      return readCounts(at, point + field);
    case schema.POINT_BOUNDS:
      return readBounds(at, point + field);
    default:
      return readQuantiles(at, point + field);
  }
}

function markPresent(bit: u32): void {
  store<u32>(point, load<u32>(point, layout.POINT_HAS) | bit, layout.POINT_HAS);
}

/** Reads bucket counts, whose range goes to `target`. */
function readCounts(at: usize, target: usize): usize {
  const first = tables.countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = number.readUnsigned(element);
    tables.appendNumber(number.integerValue, element);
    element = nextElement(next);
  }
  tables.storeRange(target, layout.HEADER_NUMBERS, first);
  return endOfList;
}

function readBounds(at: usize, target: usize): usize {
  const first = tables.countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) {
    const next = number.readDouble(element);
    tables.appendNumber(reinterpret<u64>(number.doubleValue), element);
    element = nextElement(next);
  }
  tables.storeRange(target, layout.HEADER_NUMBERS, first);
  return endOfList;
}

function readQuantiles(at: usize, target: usize): usize {
  const first = tables.countOf(layout.HEADER_NUMBERS);
  for (let element = firstElement(at); element; ) element = nextElement(readQuantile(element));
  const count = (tables.countOf(layout.HEADER_NUMBERS) - first) / 2;
  store<u64>(target, <u64>first | ((<u64>count) << 32));
  return endOfList;
}

function readQuantile(at: usize): usize {
  const begin = at;
  let quantile: f64 = 0;
  let value: f64 = 0;
  at = openMessage(at, schema.QUANTILE_MESSAGE);
  while ((at = nextMember(at))) {
    const isQuantile = memberKind == schema.QUANTILE;
    at = number.readDouble(at);
    if (isQuantile) quantile = number.doubleValue;
    else value = number.doubleValue;
  }
  tables.appendNumber(reinterpret<u64>(quantile), begin);
  tables.appendNumber(reinterpret<u64>(value), begin);
  return endOfList;
}
