/**
 * Requests the removal of records from the lake. `sluice prune` and each run of `sluice archive` and `sluice compact`
 * execute the requests. Records of parts that are not published yet are left out at their publication.
 */
import type { Query } from '../../../component/capabilities/postgres.ts';

export interface ArchivedSelection {
  readonly project: string | null;
  readonly environment?: string | null;
  readonly traceId?: string | null;
}

/**
 * To be called in the transaction that removes the last of the records, or later: a file that is written meanwhile is
 * read from an earlier snapshot, and recorded before the request is done.
 */
export async function requestErasure(query: Query, selection: ArchivedSelection): Promise<void> {
  const { project, environment = null, traceId = null } = selection;
  await query(
    `INSERT INTO sluice.lake_erasures (requested_at, project, environment, trace_id)
     SELECT clock_timestamp(), $1, $2, $3 WHERE EXISTS (SELECT FROM sluice.lake_jobs) OR EXISTS (SELECT FROM sluice.parts)`,
    [project, environment, traceId?.toLowerCase() ?? null],
  );
}
