/**
 * Removes one trace at once, for the command line and the console. Its replay markers stay, so the same bodies, sent
 * again within the hour, do not bring it back. Counters of a month stay, because they count what was accepted. Shared
 * resources and scopes are removed later by the maintenance, when no record has used them for long.
 */
import type { Query } from '../../../component/capabilities/postgres.ts';
import { TRACE_ID } from '../../../pdata/record-ids.ts';

export interface TraceName {
  /** Null: any project. A trace id has one owner. */
  readonly project: string | null;
  /** 32 hex digits. */
  readonly traceId: string;
}

export interface RemovedTrace {
  readonly project: string;
  readonly spans: number;
  readonly logs: number;
}

/** Locks the claim first, as ingest does: a request for this trace waits, and then claims the id anew. */
const LOCK_CLAIM = `
  SELECT project, first_ns::text AS first, last_ns::text AS last FROM sluice.traces
  WHERE trace_id = decode($1, 'hex') AND ($2::text IS NULL OR project = $2) FOR UPDATE`;
/** The times of the claim select the days to search. */
const REMOVE_SPANS = `
  DELETE FROM sluice.spans
  WHERE project = $1 AND trace_id = decode($2, 'hex') AND start_time_unix_nano BETWEEN $3::int8 AND $4::int8`;
const REMOVE_LOGS = `DELETE FROM sluice.logs WHERE trace_id = decode($2, 'hex') AND project = $1`;
const REMOVE_CLAIM = `DELETE FROM sluice.traces WHERE trace_id = decode($1, 'hex')`;
/**
 * Removes spans, log records and the claim of a trace. Null when there is no such trace. To be called within a
 * transaction with the isolation level READ COMMITTED, so that an audit row can join it; the caller commits.
 */
export async function removeTrace(query: Query, { project, traceId }: TraceName): Promise<RemovedTrace | null> {
  if (!TRACE_ID.test(traceId)) return null;
  const [claim] = (await query(LOCK_CLAIM, [traceId, project])).rows;
  if (claim === undefined) return null;
  const owner = String(claim['project']);
  const spans = await query(REMOVE_SPANS, [owner, traceId, claim['first'], claim['last']]);
  const logs = await query(REMOVE_LOGS, [owner, traceId]);
  await query(REMOVE_CLAIM, [traceId]);
  return {
    project: owner,
    spans: spans.rowCount ?? 0,
    logs: logs.rowCount ?? 0,
  };
}
