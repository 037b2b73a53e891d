/** The row of a metric data point. */
import {
  METRICS_BASE, METRIC_ATTRIBUTES_COUNT, METRIC_ATTRIBUTES_FIRST, METRIC_DESCRIPTION_FLAGS, METRIC_DESCRIPTION_LENGTH,
  METRIC_DESCRIPTION_OFFSET, METRIC_EXPONENTIAL_HISTOGRAM, METRIC_HISTOGRAM, METRIC_MONOTONIC, METRIC_NAME_FLAGS,
  METRIC_NAME_LENGTH, METRIC_NAME_OFFSET, METRIC_STRIDE, METRIC_SUM, METRIC_SUMMARY, METRIC_TEMPORALITY, METRIC_TYPE,
  METRIC_UNIT_FLAGS, METRIC_UNIT_LENGTH, METRIC_UNIT_OFFSET, POINTS_BASE, POINT_COUNT, POINT_HAS, POINT_HAS_MAX,
  POINT_HAS_MIN, POINT_HAS_SUM, POINT_MAX, POINT_MIN, POINT_STRIDE, POINT_SUM, POINT_VALUE_DOUBLE, POINT_VALUE_INT, RECORD_END,
  RECORD_EVENTS_COUNT, RECORD_EVENTS_FIRST, RECORD_FLAGS, RECORD_KIND, RECORD_METRIC, RECORD_POINT, RECORD_START,
  RECORD_VALUE,
} from "../../layout";
import {
  beginJson, beginRow, booleanColumn, copying, countColumn, doubleColumn, endJson, endRow, longColumn, nullColumn,
  optionalTextColumn, textColumn, timeColumn, wordColumn,
} from "./columns";
import { wordOf } from "./derived";
import { putExemplars, putExponentialBuckets, putHistogramBuckets, putQuantiles } from "./lists";
import { OWNER_FIELDS, SOURCE_FIELDS, ownerColumns, sourceColumns } from "./source";
import { putAttributes } from "./values";

const OWN_FIELDS: u32 = 19;
const TYPE_WORDS: StaticArray<string> = ["", "gauge", "sum", "histogram", "exponential_histogram", "summary"];
const TEMPORALITY_WORDS: StaticArray<string> = ["", "delta", "cumulative"];

export function putPoint(record: usize): void {
  const metric = <usize>METRICS_BASE + <usize>load<u32>(record, RECORD_METRIC) * METRIC_STRIDE;
  const type = <u32>load<u8>(metric, METRIC_TYPE);
  beginRow(OWNER_FIELDS + OWN_FIELDS + SOURCE_FIELDS, "{\"signal\":\"metric\"");
  ownerColumns(record);
  metricColumns(metric, type);
  timeColumn(",\"start_time_unix_nano\":", load<u64>(record, RECORD_START));
  longColumn(",\"time_unix_nano\":", load<i64>(record, RECORD_END));
  valueColumns(record);
  const number = load<u32>(record, RECORD_POINT);
  const point: usize = number == 0 ? 0 : <usize>POINTS_BASE + <usize>(number - 1) * POINT_STRIDE;
  statisticsColumns(point);
  bucketColumns(point, type);
  const exemplars = load<u32>(record, RECORD_EVENTS_COUNT);
  if (exemplars == 0) nullColumn(",\"exemplars\":");
  else jsonList(record, exemplars);
  countColumn(",\"flags\":", load<u32>(record, RECORD_FLAGS));
  const metadata = load<u32>(metric, METRIC_ATTRIBUTES_COUNT);
  if (metadata == 0) {
    nullColumn(",\"metadata\":");
  } else {
    const column = beginJson(",\"metadata\":");
    putAttributes(load<u32>(metric, METRIC_ATTRIBUTES_FIRST), metadata);
    endJson(column);
  }
  sourceColumns(record);
  endRow();
}

function jsonList(record: usize, exemplars: u32): void {
  const column = beginJson(",\"exemplars\":");
  putExemplars(load<u32>(record, RECORD_EVENTS_FIRST), exemplars);
  endJson(column);
}

function metricColumns(metric: usize, type: u32): void {
  textColumn(",\"name\":", load<u32>(metric, METRIC_NAME_OFFSET), load<u32>(metric, METRIC_NAME_LENGTH), load<u8>(metric, METRIC_NAME_FLAGS));
  optionalTextColumn(
    ",\"description\":", load<u32>(metric, METRIC_DESCRIPTION_OFFSET), load<u32>(metric, METRIC_DESCRIPTION_LENGTH), load<u8>(metric, METRIC_DESCRIPTION_FLAGS),
  );
  optionalTextColumn(",\"unit\":", load<u32>(metric, METRIC_UNIT_OFFSET), load<u32>(metric, METRIC_UNIT_LENGTH), load<u8>(metric, METRIC_UNIT_FLAGS));
  wordColumn(",\"type\":", wordOf(TYPE_WORDS, type));
  const hasTemporality = type == METRIC_SUM || type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM;
  wordColumn(",\"temporality\":", hasTemporality ? wordOf(TEMPORALITY_WORDS, load<u8>(metric, METRIC_TEMPORALITY)) : "");
  booleanColumn(",\"is_monotonic\":", type == METRIC_SUM ? 1 + <u32>load<u8>(metric, METRIC_MONOTONIC) : 0);
}

/** `value_int` and `value_double`; NDJSON writes whichever is there as `value`, an integer as a number of all its digits. */
function valueColumns(record: usize): void {
  const kind = load<u8>(record, RECORD_KIND);
  if (kind == POINT_VALUE_INT) countColumn(",\"value\":", load<i64>(record, RECORD_VALUE));
  else if (copying) nullColumn("");
  if (kind == POINT_VALUE_DOUBLE) doubleColumn(",\"value\":", load<f64>(record, RECORD_VALUE));
  else if (copying) nullColumn("");
  else if (kind != POINT_VALUE_INT) nullColumn(",\"value\":");
}

function optionalDouble(label: string, point: usize, bit: u32, offset: usize): void {
  if (point != 0 && (load<u32>(point, POINT_HAS) & bit) != 0) doubleColumn(label, load<f64>(point + offset));
  else nullColumn(label);
}

/** count, sum, min, max. Counts beyond int8 are stored as its largest value. */
function statisticsColumns(point: usize): void {
  if (point == 0) {
    nullColumn(",\"count\":");
  } else {
    const count = load<u64>(point, POINT_COUNT);
    longColumn(",\"count\":", count > <u64>i64.MAX_VALUE ? i64.MAX_VALUE : <i64>count);
  }
  optionalDouble(",\"sum\":", point, POINT_HAS_SUM, POINT_SUM);
  optionalDouble(",\"min\":", point, POINT_HAS_MIN, POINT_MIN);
  optionalDouble(",\"max\":", point, POINT_HAS_MAX, POINT_MAX);
}

/** buckets, quantiles. */
function bucketColumns(point: usize, type: u32): void {
  if (point != 0 && (type == METRIC_HISTOGRAM || type == METRIC_EXPONENTIAL_HISTOGRAM)) {
    const column = beginJson(",\"buckets\":");
    if (type == METRIC_HISTOGRAM) putHistogramBuckets(point);
    else putExponentialBuckets(point);
    endJson(column);
  } else {
    nullColumn(",\"buckets\":");
  }
  if (point != 0 && type == METRIC_SUMMARY) {
    const column = beginJson(",\"quantiles\":");
    putQuantiles(point);
    endJson(column);
  } else {
    nullColumn(",\"quantiles\":");
  }
}
