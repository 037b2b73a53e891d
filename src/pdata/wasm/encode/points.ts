/** The row of a metric data point. */
import * as layout from '../../layout';
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
import * as labels from './labels';
import { putExemplars, putExponentialBuckets, putHistogramBuckets, putQuantiles } from './lists';
import { ownerColumns, sourceColumns } from './source';
import { putAttributes } from './values';

export function putPoint(record: usize): void {
  const metric = <usize>layout.METRICS_BASE + <usize>load<u32>(record, layout.RECORD_METRIC) * layout.METRIC_STRIDE;
  const type = <u32>load<u8>(metric, layout.METRIC_TYPE);
  beginRow(labels.POINT_FIELDS, '{"signal":"metric"');
  ownerColumns(record);
  metricColumns(metric, type);
  timeColumn(labels.START_TIME_UNIX_NANO, load<u64>(record, layout.RECORD_START));
  longColumn(labels.TIME_UNIX_NANO, load<i64>(record, layout.RECORD_END));
  valueColumns(record);
  const number = load<u32>(record, layout.RECORD_POINT);
  const point: usize = number == 0 ? 0 : <usize>layout.POINTS_BASE + <usize>(number - 1) * layout.POINT_STRIDE;
  statisticsColumns(point);
  bucketColumns(point, type);
  const exemplars = load<u32>(record, layout.RECORD_EVENTS_COUNT);
  if (exemplars == 0) nullColumn(labels.EXEMPLARS);
  else jsonList(record, exemplars);
  countColumn(labels.FLAGS, load<u32>(record, layout.RECORD_FLAGS));
  const metadata = load<u32>(metric, layout.METRIC_ATTRIBUTES_COUNT);
  if (metadata == 0) {
    nullColumn(labels.METADATA);
  } else {
    const column = beginJson(labels.METADATA);
    putAttributes(load<u32>(metric, layout.METRIC_ATTRIBUTES_FIRST), metadata);
    endJson(column);
  }
  sourceColumns(record);
  endRow();
}

function jsonList(record: usize, exemplars: u32): void {
  const column = beginJson(labels.EXEMPLARS);
  putExemplars(load<u32>(record, layout.RECORD_EVENTS_FIRST), exemplars);
  endJson(column);
}

function metricColumns(metric: usize, type: u32): void {
  textColumn(
    labels.NAME,
    load<u32>(metric, layout.METRIC_NAME_OFFSET),
    load<u32>(metric, layout.METRIC_NAME_LENGTH),
    load<u8>(metric, layout.METRIC_NAME_FLAGS),
  );
  optionalTextColumn(
    labels.DESCRIPTION,
    load<u32>(metric, layout.METRIC_DESCRIPTION_OFFSET),
    load<u32>(metric, layout.METRIC_DESCRIPTION_LENGTH),
    load<u8>(metric, layout.METRIC_DESCRIPTION_FLAGS),
  );
  optionalTextColumn(
    labels.UNIT,
    load<u32>(metric, layout.METRIC_UNIT_OFFSET),
    load<u32>(metric, layout.METRIC_UNIT_LENGTH),
    load<u8>(metric, layout.METRIC_UNIT_FLAGS),
  );
  wordColumn(labels.TYPE, wordOf(labels.TYPE_WORDS, type));
  const hasTemporality =
    type == layout.METRIC_SUM || type == layout.METRIC_HISTOGRAM || type == layout.METRIC_EXPONENTIAL_HISTOGRAM;
  wordColumn(
    labels.TEMPORALITY,
    hasTemporality ? wordOf(labels.TEMPORALITY_WORDS, load<u8>(metric, layout.METRIC_TEMPORALITY)) : '',
  );
  booleanColumn(
    labels.IS_MONOTONIC,
    type == layout.METRIC_SUM ? 1 + <u32>load<u8>(metric, layout.METRIC_MONOTONIC) : 0,
  );
}

/** `value_int` and `value_double`; NDJSON writes the present one as `value`, an integer with all its digits. */
function valueColumns(record: usize): void {
  const kind = load<u8>(record, layout.RECORD_KIND);
  if (kind == layout.POINT_VALUE_INT) countColumn(labels.VALUE, load<i64>(record, layout.RECORD_VALUE));
  else if (copying) nullColumn('');
  if (kind == layout.POINT_VALUE_DOUBLE) doubleColumn(labels.VALUE, load<f64>(record, layout.RECORD_VALUE));
  else if (copying) nullColumn('');
  else if (kind != layout.POINT_VALUE_INT) nullColumn(labels.VALUE);
}

function optionalDouble(label: string, point: usize, bit: u32, offset: usize): void {
  if (point != 0 && (load<u32>(point, layout.POINT_HAS) & bit) != 0) doubleColumn(label, load<f64>(point + offset));
  else nullColumn(label);
}

/** count, sum, min, max. A count beyond int8 is unavailable, because any other number would be wrong. */
function statisticsColumns(point: usize): void {
  const count = point == 0 ? -1 : load<i64>(point, layout.POINT_COUNT);
  if (count < 0) nullColumn(labels.COUNT);
  else longColumn(labels.COUNT, count);
  optionalDouble(labels.SUM, point, layout.POINT_HAS_SUM, layout.POINT_SUM);
  optionalDouble(labels.MIN, point, layout.POINT_HAS_MIN, layout.POINT_MIN);
  optionalDouble(labels.MAX, point, layout.POINT_HAS_MAX, layout.POINT_MAX);
}

/** buckets, quantiles. */
function bucketColumns(point: usize, type: u32): void {
  if (point != 0 && (type == layout.METRIC_HISTOGRAM || type == layout.METRIC_EXPONENTIAL_HISTOGRAM)) {
    const column = beginJson(labels.BUCKETS);
    if (type == layout.METRIC_HISTOGRAM) putHistogramBuckets(point);
    else putExponentialBuckets(point);
    endJson(column);
  } else {
    nullColumn(labels.BUCKETS);
  }
  if (point != 0 && type == layout.METRIC_SUMMARY) {
    const column = beginJson(labels.QUANTILES);
    putQuantiles(point);
    endJson(column);
  } else {
    nullColumn(labels.QUANTILES);
  }
}
