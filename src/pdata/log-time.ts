/** The time of a log record in SQL, as lists, exports, conversations and usage order and select by it. */

/**
 * Its own time, else that of its observation, else that of its arrival. An index has this expression for records with
 * usage, for those with a conversation, and for those without their own time. `record`: the name of the row.
 */
export const logNs = (record: string): string =>
  `sluice.log_ns(${record}.time_unix_nano, ${record}.observed_time_unix_nano, ${record}.received_at)`;

/** The order of records of one time, which have no id: as they were stored. */
export const logPlace = (record: string): string => `${record}.tableoid, ${record}.ctid`;

/** The order by time. */
export const logOrder = (record: string): string => `${logNs(record)}, ${logPlace(record)}`;
