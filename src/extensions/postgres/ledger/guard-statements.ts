/** The statements of the guards: replay markers, owners of traces, quotas and the counters of a month. */
import type { Statement } from '../wire-pipeline.ts';

/**
 * An optimistic guard fails by dividing by zero. Nothing else in its statement divides, and it needs no function in the
 * schema.
 */
export const DIVISION_BY_ZERO = '22012';
export const MARKER_LIFETIME_MS = 3600000;
/** A time of the database in milliseconds. */
export const unixMs = (time: string): string => `(extract(epoch FROM ${time}) * 1000)::int8`;
const MARKERS = `
  INSERT INTO sluice.replay_markers AS r (project, key, expires_ms)
  SELECT project, key, ${unixMs('now()')} + ${MARKER_LIFETIME_MS}
  FROM unnest($1::text[], $2::bytea[]) AS u (project, key) ORDER BY project, key
  ON CONFLICT (project, key) DO UPDATE SET expires_ms = excluded.expires_ms
  WHERE r.expires_ms <= excluded.expires_ms - ${MARKER_LIFETIME_MS}`;

const TRACES = `
  INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns)
  SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::int8[], $5::int8[]) AS u (trace_id, project, environment, first_ns, last_ns)
  ORDER BY trace_id
  ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns)
  WHERE t.project = excluded.project AND t.environment = excluded.environment`;

export const FIND_TRACES = {
  name: 'find-traces',
  text: `SELECT encode(trace_id, 'hex'), project, environment FROM sluice.traces WHERE trace_id = ANY ($1::bytea[])`,
};

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
const RESET_SECONDS = `greatest(1, ceil(extract(epoch FROM (${MONTH} + interval '1 month') AT TIME ZONE 'UTC' - now())))::int4`;
const LOCKED_USAGE = 'SELECT project, spans FROM sluice.lock_usage($1::text[])';

/** The third column is the age of a marker in milliseconds. */
export const FIND_MARKERS = {
  name: 'find-markers',
  text: `
    SELECT project, encode(key, 'hex'), ${unixMs('clock_timestamp()')} + ${MARKER_LIFETIME_MS} - expires_ms, ${RESET_SECONDS}
    FROM sluice.replay_markers JOIN unnest($1::text[], $2::bytea[]) AS u (project, key) USING (project, key)
    WHERE expires_ms > ${unixMs('now()')}`,
};

/**
 * A commit whose wait for a synchronous standby ended early (a restart, a session that was cancelled or terminated) is
 * visible, and may be missing on the standby. The commit of this statement waits for everything before it. Without
 * synchronous standbys it writes nothing.
 */
export const AWAIT_STANDBY = {
  name: 'await-standby',
  text: `SELECT CASE WHEN current_setting('synchronous_standby_names') <> '' THEN pg_logical_emit_message(true, 'sluice', '') END`,
};

/** Projects without a row have stored nothing in this month. */
export const FIND_USAGE = {
  name: 'find-usage',
  text: `
    SELECT u.project, coalesce(max(m.spans), 0), ${RESET_SECONDS}
    FROM unnest($1::text[]) AS u (project)
    LEFT JOIN sluice.usage_months AS m ON m.project = u.project AND m.month = ${MONTH} GROUP BY u.project`,
};

/** The optimistic form of the statement: it must return a row for each key of the first parameter. */
const asserting = (text: string): string =>
  `WITH claimed AS (${text} RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::int4 FROM claimed`;

export const CLAIM_MARKERS = { name: 'claim-markers', text: `${MARKERS} RETURNING r.project, encode(r.key, 'hex')` };
export const ASSERT_MARKERS = { name: 'assert-markers', text: asserting(MARKERS) };
export const CLAIM_TRACES = { name: 'claim-traces', text: `${TRACES} RETURNING encode(t.trace_id, 'hex')` };
export const ASSERT_TRACES = { name: 'assert-traces', text: asserting(TRACES) };
export const LOCK_USAGE = {
  name: 'lock-usage',
  text: `WITH locked AS MATERIALIZED (${LOCKED_USAGE}) SELECT project, spans, ${RESET_SECONDS} FROM locked`,
};
/** Locks nothing. */
export const ASSERT_ROOM = {
  name: 'assert-room',
  text: `
    SELECT 1 / bool_and(coalesce(m.spans, 0) <= room)::int4 FROM unnest($1::text[], $2::int8[]) AS u (project, room)
    LEFT JOIN sluice.usage_months AS m ON m.project = u.project AND m.month = ${MONTH}`,
};
export const ASSERT_USAGE = {
  name: 'assert-usage',
  text: `
    WITH locked AS MATERIALIZED (${LOCKED_USAGE})
    SELECT ${RESET_SECONDS} / (count(*) = cardinality($1) AND bool_and(spans <= room))::int4
    FROM locked JOIN unnest($1::text[], $2::int8[]) AS u (project, room) USING (project)`,
};
export const ADD_USAGE = {
  name: 'add-usage',
  text: `SELECT sluice.add_usage($1::text[], $2::int8[], $3::int8[], $4::int8[]) -- UPDATE or INSERT INTO sluice.usage_months`,
};

/** Prepared once on each connection. */
export const GUARD_STATEMENTS: readonly Required<Statement>[] = [
  CLAIM_MARKERS,
  ASSERT_MARKERS,
  CLAIM_TRACES,
  ASSERT_TRACES,
  LOCK_USAGE,
  ASSERT_ROOM,
  ASSERT_USAGE,
  ADD_USAGE,
  FIND_MARKERS,
  FIND_TRACES,
  FIND_USAGE,
  AWAIT_STANDBY,
];
