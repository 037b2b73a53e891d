/** The row of a metric data point. */
import {
  METRICS_BASE,
  METRIC_ATTRIBUTES_COUNT,
  METRIC_ATTRIBUTES_FIRST,
  METRIC_DESCRIPTION_FLAGS,
  METRIC_DESCRIPTION_LENGTH,
  METRIC_DESCRIPTION_OFFSET,
  METRIC_EXPONENTIAL_HISTOGRAM,
  METRIC_HISTOGRAM,
  METRIC_MONOTONIC,
  METRIC_NAME_FLAGS,
  METRIC_NAME_LENGTH,
  METRIC_NAME_OFFSET,
  METRIC_STRIDE,
  METRIC_SUM,
  METRIC_SUMMARY,
  METRIC_TEMPORALITY,
  METRIC_TYPE,
  METRIC_UNIT_FLAGS,
  METRIC_UNIT_LENGTH,
  METRIC_UNIT_OFFSET,
  POINTS_BASE,
  POINT_COUNT,
  POINT_HAS,
  POINT_HAS_MAX,
  POINT_HAS_MIN,
  POINT_HAS_SUM,
  POINT_MAX,
  POINT_MIN,
  POINT_STRIDE,
  POINT_SUM,
  POINT_VALUE_DOUBLE,
  POINT_VALUE_INT,
  RECORD_END,
  RECORD_EVENTS_COUNT,
  RECORD_EVENTS_FIRST,
  RECORD_FLAGS,
  RECORD_KIND,
  RECORD_METRIC,
  RECORD_POINT,
  RECORD_START,
  RECORD_VALUE,
} from '../../layout';
import {
  beginJson,
  beginRow,
  booleanColumn,
  copying,
  countColumn,
  doubleColumn,
  endJson,
  endRow,
  longColumn,
  nullColumn,
  optionalTextColumn,
  textColumn,
  timeColumn,
  wordColumn,
  wordOf,
} from './columns';
import {
  LABEL_BUCKETS,
  LABEL_COUNT,
  LABEL_DESCRIPTION,
  LABEL_EXEMPLARS,
  LABEL_FLAGS,
  LABEL_IS_MONOTONIC,
  LABEL_MAX,
  LABEL_METADATA,
  LABEL_MIN,
  LABEL_NAME,
  LABEL_QUANTILES,
  LABEL_START_TIME_UNIX_NANO,
  LABEL_SUM,
  LABEL_TEMPORALITY,
  LABEL_TIME_UNIX_NANO,
  LABEL_TYPE,
  LABEL_UNIT,
  LABEL_VALUE,
  POINT_FIELDS,
  TEMPORALITY_WORDS,
  TYPE_WORDS,
} from './labels';
import { putExemplars, putExponentialBuckets, putHistogramBuckets, putQuantiles } from './lists';
import { ownerColumns, sourceColumns } from './source';
import { putAttributes } from './values';

export function putPoint(record: usize): void {
  const metric = <usize>METRICS_BASE + <usize>load<u32>(record, RECORD_METRIC) * METRIC_STRIDE;
  const type = <u32>load<u8>(metric, METRIC_TYPE);
  beginRow(POINT_FIELDS, '{"signal":"metric"');
  ownerColumns(record);
  metricColumns(metric, type);
  timeColumn(LABEL_START_TIME_UNIX_NANO, load<u64>(record, RECORD_START));
  longColumn(LABEL_TIME_UNIX_NANO, load<i64>(record, RECORD_END));
  valueColumns(record);
  const number = load<u32>(record, RECORD_POINT);
  const point: usize = number == 0 ? 0 : <usize>POINTS_BASE + <usize>(number - 1) * POINT_STRIDE;
  statisticsColumns(point);
  bucketColumns(point, type);
  const exemplars = load<u32>(record, RECORD_EVENTS_COUNT);
  if (exemplars == 0) nullColumn(LABEL_EXEMPLARS);
  else jsonList(record, exemplars);
  countColumn(LABEL_FLAGS, load<u32>(record, RECORD_FLAGS));
  const metadata = load<u32>(metric, METRIC_ATTRIBUTES_COUNT);
  if (metadata == 0) {
    nullColumn(LABEL_METADATA);
  } else {
    const column = beginJson(LABEL_METADATA);
    putAttributes(load<u32>(metric, METRIC_ATTRIBUTES_FIRST), metadata);
    endJson(column);
  }
  sourceColumns(record);
  endRow();
}

function jsonList(record: usize, exemplars: u32): void {
  const column = beginJson(LABEL_EXEMPLARS);
  putExemplars(load<u32>(record, RECORD_EVENTS_FIRST), exemplars);
  endJson(column);
}

function metricColumns(metric: usize, type: u32): void {
  textColumn(
    LABEL_NAME,
    load<u32>(metric, METRIC_NAME_OFFSET),
    load<u32>(metric, METRIC_NAME_LENGTH),
    load<u8>(metric, METRIC_NAME_FLAGS),
  );
  optionalTextColumn(
    LABEL_DESCRIPTION,
    load<u32>(metric, METRIC_DESCRIPTION_OFFSET),
    load<u32>(metric, METRIC_DESCRIPTION_LENGTH),
    load<u8>(metric, METRIC_DESCRIPTION_FLAGS),
  );
  optionalTextColumn(
    LABEL_UNIT,
    load<u32>(metric, METRIC_UNIT_OFFSET),
    load<u32>(metric, METRIC_UNIT_LENGTH),
    load<u8>(metric, METRIC_UNIT_FLAGS),
  );
  wordColumn(LABEL_TYPE, wordOf(TYPE_WORDS, type));
  const hasTemporality = type == METRIC_SUM || type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM;
  wordColumn(LABEL_TEMPORALITY, hasTemporality ? wordOf(TEMPORALITY_WORDS, load<u8>(metric, METRIC_TEMPORALITY)) : '');
  booleanColumn(LABEL_IS_MONOTONIC, type == METRIC_SUM ? 1 + <u32>load<u8>(metric, METRIC_MONOTONIC) : 0);
}

/** `value_int` and `value_double`; NDJSON writes the present one as `value`, an integer with all its digits. */
function valueColumns(record: usize): void {
  const kind = load<u8>(record, RECORD_KIND);
  if (kind == POINT_VALUE_INT) countColumn(LABEL_VALUE, load<i64>(record, RECORD_VALUE));
  else if (copying) nullColumn('');
  if (kind == POINT_VALUE_DOUBLE) doubleColumn(LABEL_VALUE, load<f64>(record, RECORD_VALUE));
  else if (copying) nullColumn('');
  else if (kind != POINT_VALUE_INT) nullColumn(LABEL_VALUE);
}

function optionalDouble(label: string, point: usize, bit: u32, offset: usize): void {
  if (point != 0 && (load<u32>(point, POINT_HAS) & bit) != 0) doubleColumn(label, load<f64>(point + offset));
  else nullColumn(label);
}

/** count, sum, min, max. Counts beyond int8 are stored as its largest value. */
function statisticsColumns(point: usize): void {
  if (point == 0) {
    nullColumn(LABEL_COUNT);
  } else {
    const count = load<u64>(point, POINT_COUNT);
    longColumn(LABEL_COUNT, count > <u64>i64.MAX_VALUE ? i64.MAX_VALUE : <i64>count);
  }
  optionalDouble(LABEL_SUM, point, POINT_HAS_SUM, POINT_SUM);
  optionalDouble(LABEL_MIN, point, POINT_HAS_MIN, POINT_MIN);
  optionalDouble(LABEL_MAX, point, POINT_HAS_MAX, POINT_MAX);
}

/** buckets, quantiles. */
function bucketColumns(point: usize, type: u32): void {
  if (point != 0 && (type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM)) {
    const column = beginJson(LABEL_BUCKETS);
    if (type == METRIC_HISTOGRAM) putHistogramBuckets(point);
    else putExponentialBuckets(point);
    endJson(column);
  } else {
    nullColumn(LABEL_BUCKETS);
  }
  if (point != 0 && type == METRIC_SUMMARY) {
    const column = beginJson(LABEL_QUANTILES);
    putQuantiles(point);
    endJson(column);
  } else {
    nullColumn(LABEL_QUANTILES);
  }
}
