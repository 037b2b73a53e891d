/**
 * From which time on an answer is complete: lists and sums read PostgreSQL, and earlier days may be archived, or
 * records may be in objects only.
 */
import { dayOfNs, MAY_MISS, WAITING_PARTS } from '../../../component/archived-day.ts';
import type { RequestContext } from '../server/route.ts';

/**
 * The end of the newest archived day at or after the time `$2` of which PostgreSQL may not have all records, or the
 * arrival of the newest request that it does not have.
 */
const NEWEST = `
  SELECT max(ns)::text AS ns FROM (
    (SELECT (j.day + 1 - date '1970-01-01')::int8 * 86400000000000 AS ns FROM sluice.lake_jobs j
    WHERE j.state = 'published' AND j.signal <> 'metric_points' AND $1::text = ANY (j.projects)
      AND j.day >= ${dayOfNs('$2::int8')} AND ${MAY_MISS}
    ORDER BY j.day DESC LIMIT 1)
    UNION ALL SELECT (extract(epoch FROM max(p.received_at)) * 1000000)::int8 * 1000 FROM ${WAITING_PARTS} p
    WHERE p.signal IN ('spans', 'logs') AND p.project = $1::text
      AND p.received_at >= 'epoch'::timestamptz + $2::int8 / 1000 * interval '1 microsecond') n`;

export interface Completeness {
  readonly complete_from?: string;
}

/** A member of the answer to a question from this time on; empty when the answer is complete. */
export async function completenessOf(
  { project, reader, archivedFrom }: RequestContext,
  from: bigint,
): Promise<Completeness> {
  if (archivedFrom !== null) return archivedFrom > from ? { complete_from: String(archivedFrom) } : {};
  const [row] = await reader.prepared(NEWEST, [project, String(from < 0n ? 0n : from)]);
  const ns = row?.['ns'] ?? null;
  return ns === null ? {} : { complete_from: String(ns) };
}
