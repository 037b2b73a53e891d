/**
 * Metrics of OTLP/JSON: a metric row, a record row for each data point, and a point row for points of several numbers.
 */
import * as layout from '../../layout';
import { fail } from '../fail';
import { appendMetric, appendRecord } from '../tables';
import { readNumberPoint, readPoint } from './data-point';
import * as members from './members';
import { integerValue, readEnum } from './number';
import * as schema from './schema';
import { readTextField } from './text';
import { readAttributes } from './value';

/** The largest number of the enum. */
const LAST_TEMPORALITY: u32 = 2;

/** `owner`: the numbers of resource and scope, two adjacent fields of a record. */
export function readMetric(at: usize, owner: u64): usize {
  const row = appendMetric(at);
  at = members.openMessage(at, schema.METRIC_MESSAGE);
  while ((at = members.nextMember(at))) {
    switch (members.memberId) {
      case schema.NAME: {
        at = readTextField(at, row, layout.METRIC_NAME_OFFSET, layout.METRIC_NAME_FLAGS);
        break;
      }
      case schema.DESCRIPTION: {
        at = readTextField(at, row, layout.METRIC_DESCRIPTION_OFFSET, layout.METRIC_DESCRIPTION_FLAGS);
        break;
      }
      case schema.UNIT: {
        at = readTextField(at, row, layout.METRIC_UNIT_OFFSET, layout.METRIC_UNIT_FLAGS);
        break;
      }
      case schema.METADATA: {
        at = readAttributes(at, row + layout.METRIC_ATTRIBUTES_FIRST);
        break;
      }
      default:
        at = readData(at, row, owner);
    }
  }
  return members.endOfList;
}

/** Reads the one member that holds the data. */
function readData(at: usize, row: usize, owner: u64): usize {
  if (load<u8>(row, layout.METRIC_TYPE) != layout.METRIC_NONE) fail(layout.FAIL_JSON, at);
  const type: u32 =
    members.memberId == schema.GAUGE
      ? layout.METRIC_GAUGE
      : members.memberId == schema.SUM
        ? layout.METRIC_SUM
        : members.memberId == schema.HISTOGRAM
          ? layout.METRIC_HISTOGRAM
          : members.memberId == schema.EXPONENTIAL_HISTOGRAM
            ? layout.METRIC_EXPONENTIAL_HISTOGRAM
            : layout.METRIC_SUMMARY;
  store<u8>(row, <u8>type, layout.METRIC_TYPE);
  const aggregates = type == layout.METRIC_HISTOGRAM || type == layout.METRIC_EXPONENTIAL_HISTOGRAM;
  at = members.openMessage(
    at,
    type == layout.METRIC_SUM ? schema.SUM_MESSAGE : aggregates ? schema.HISTOGRAM_MESSAGE : schema.GAUGE_MESSAGE,
  );
  while ((at = members.nextMember(at))) {
    if (members.memberId == schema.DATA_POINTS) at = readPoints(at, type, owner);
    else if (members.memberId == schema.AGGREGATION_TEMPORALITY) {
      at = readEnum(at, LAST_TEMPORALITY);
      store<u8>(row, <u8>integerValue, layout.METRIC_TEMPORALITY);
    } else {
      at = members.readBool(at);
      store<u8>(row, <u8>members.boolValue, layout.METRIC_MONOTONIC);
    }
  }
  return members.endOfList;
}

function readPoints(at: usize, type: u32, owner: u64): usize {
  const metric = load<u32>(layout.HEADER_BASE, layout.HEADER_METRICS) - 1;
  for (let element = members.firstElement(at); element; ) {
    const record = appendRecord(element);
    store<u64>(record, owner, layout.RECORD_RESOURCE);
    store<u32>(record, metric, layout.RECORD_METRIC);
    const simple = type == layout.METRIC_GAUGE || type == layout.METRIC_SUM;
    element = members.nextElement(simple ? readNumberPoint(element, record) : readPoint(element, record, type));
  }
  return members.endOfList;
}
