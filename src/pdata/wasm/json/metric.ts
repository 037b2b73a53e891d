/**
 * Metrics of OTLP/JSON: a metric row, a record row for each data point, and a point row for points of several numbers.
 */
import {
  FAIL_JSON,
  HEADER_BASE,
  HEADER_METRICS,
  METRIC_ATTRIBUTES_FIRST,
  METRIC_DESCRIPTION_FLAGS,
  METRIC_DESCRIPTION_OFFSET,
  METRIC_EXPONENTIAL_HISTOGRAM,
  METRIC_GAUGE,
  METRIC_HISTOGRAM,
  METRIC_MONOTONIC,
  METRIC_NAME_FLAGS,
  METRIC_NAME_OFFSET,
  METRIC_NONE,
  METRIC_SUM,
  METRIC_SUMMARY,
  METRIC_TEMPORALITY,
  METRIC_TYPE,
  METRIC_UNIT_FLAGS,
  METRIC_UNIT_OFFSET,
  RECORD_METRIC,
  RECORD_RESOURCE,
} from '../../layout';
import { fail } from '../fail';
import { appendMetric, appendRecord } from '../tables';
import { readNumberPoint, readPoint } from './data-point';
import {
  boolValue,
  endOfList,
  firstElement,
  memberId,
  nextElement,
  nextMember,
  openMessage,
  readBool,
} from './members';
import { integerValue, readEnum } from './number';
import {
  AGGREGATION_TEMPORALITY,
  DATA_POINTS,
  DESCRIPTION,
  EXPONENTIAL_HISTOGRAM,
  GAUGE,
  GAUGE_MESSAGE,
  HISTOGRAM,
  HISTOGRAM_MESSAGE,
  METADATA,
  METRIC_MESSAGE,
  NAME,
  SUM,
  SUM_MESSAGE,
  UNIT,
} from './schema';
import { readTextField } from './text';
import { readAttributes } from './value';

/** The largest number of the enum. */
const LAST_TEMPORALITY: u32 = 2;

/** `owner`: the numbers of resource and scope, two adjacent fields of a record. */
export function readMetric(at: usize, owner: u64): usize {
  const row = appendMetric(at);
  at = openMessage(at, METRIC_MESSAGE);
  while ((at = nextMember(at))) {
    switch (memberId) {
      case NAME: {
        at = readTextField(at, row, METRIC_NAME_OFFSET, METRIC_NAME_FLAGS);
        break;
      }
      case DESCRIPTION: {
        at = readTextField(at, row, METRIC_DESCRIPTION_OFFSET, METRIC_DESCRIPTION_FLAGS);
        break;
      }
      case UNIT: {
        at = readTextField(at, row, METRIC_UNIT_OFFSET, METRIC_UNIT_FLAGS);
        break;
      }
      case METADATA: {
        at = readAttributes(at, row + METRIC_ATTRIBUTES_FIRST);
        break;
      }
      default:
        at = readData(at, row, owner);
    }
  }
  return endOfList;
}

/** Reads the one member that holds the data. */
function readData(at: usize, row: usize, owner: u64): usize {
  if (load<u8>(row, METRIC_TYPE) != METRIC_NONE) fail(FAIL_JSON, at);
  const type: u32 =
    memberId == GAUGE
      ? METRIC_GAUGE
      : memberId == SUM
        ? METRIC_SUM
        : memberId == HISTOGRAM
          ? METRIC_HISTOGRAM
          : memberId == EXPONENTIAL_HISTOGRAM
            ? METRIC_EXPONENTIAL_HISTOGRAM
            : METRIC_SUMMARY;
  store<u8>(row, <u8>type, METRIC_TYPE);
  const aggregates = type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM;
  at = openMessage(at, type == METRIC_SUM ? SUM_MESSAGE : aggregates ? HISTOGRAM_MESSAGE : GAUGE_MESSAGE);
  while ((at = nextMember(at))) {
    if (memberId == DATA_POINTS) at = readPoints(at, type, owner);
    else if (memberId == AGGREGATION_TEMPORALITY) {
      at = readEnum(at, LAST_TEMPORALITY);
      store<u8>(row, <u8>integerValue, METRIC_TEMPORALITY);
    } else {
      at = readBool(at);
      store<u8>(row, <u8>boolValue, METRIC_MONOTONIC);
    }
  }
  return endOfList;
}

function readPoints(at: usize, type: u32, owner: u64): usize {
  const metric = load<u32>(HEADER_BASE, HEADER_METRICS) - 1;
  for (let element = firstElement(at); element; ) {
    const record = appendRecord(element);
    store<u64>(record, owner, RECORD_RESOURCE);
    store<u32>(record, metric, RECORD_METRIC);
    const simple = type == METRIC_GAUGE || type == METRIC_SUM;
    element = nextElement(simple ? readNumberPoint(element, record) : readPoint(element, record, type));
  }
  return endOfList;
}
