/** Spans, and the spans of a trace, in SQL. */

/** Whether the span `s` failed. */
export const IS_FAILED = "(s.status = 'error' OR s.is_error)";

/** The model of the span `s`: the one that answered, else the one asked for. */
export const MODEL = 'coalesce(s.response_model, s.request_model)';

/**
 * That a span belongs to the trace `t`. Its times limit the partitions. Until a new partition has statistics, the
 * planner would choose the index of projects and times, and read all spans of the time of each trace: `IS TRUE` hides
 * the project from it. `within`: the same of its start, by parameters. The times of a row leave out partitions only
 * when the statement runs, and three years of them take longer to plan than to read.
 */
export const spansOf = (span: string, within = ''): string =>
  `(${span}.project = t.project) IS TRUE AND ${span}.trace_id = t.trace_id AND ${span}.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns${
    within === '' ? '' : ` AND ${span}.start_time_unix_nano ${within}`
  }`;

/** Whether the trace `t` has a span `s` that meets the condition. `OFFSET 0` prevents a join with all spans. */
export const hasSpan = (condition: string, within = ''): string =>
  `EXISTS (SELECT FROM sluice.spans s WHERE ${spansOf('s', within)} AND ${condition} OFFSET 0)`;

/** Whether the span `s` belongs to the trace of the parameters. Only the partitions of its times are opened. */
export const IN_TRACE =
  '(s.project = $1::text) IS TRUE AND s.trace_id = $2::bytea AND s.start_time_unix_nano BETWEEN $3::int8 AND $4::int8';

/**
 * Log records of the trace `t` did not arrive before: its claim and its first span did not arrive a day later. Log
 * records are in the partitions of the days of their arrival, so only those since then are planned.
 */
export const LOGS_SINCE = "least(t.created_at, to_timestamp(t.first_ns / 1000000000.0)) - interval '1 day'";
