/** From which time on an answer is complete: lists and sums read PostgreSQL, and earlier days may be archived. */
import { dayOfNs, IS_DROPPED, IS_OF_TABLES } from '../../../component/archived-day.ts';
import type { RequestContext } from '../server/route.ts';

/** The end of the newest archived day at or after the time `$2` of which PostgreSQL does not have all records. */
const NEWEST = `
  SELECT ((j.day + 1 - date '1970-01-01')::int8 * 86400000000000)::text AS ns FROM sluice.lake_jobs j
  WHERE j.state = 'published' AND j.${IS_OF_TABLES} AND j.signal <> 'metric_points' AND $1::text = ANY (j.projects)
    AND j.day >= ${dayOfNs('$2::int8')} AND ${IS_DROPPED}
  ORDER BY j.day DESC LIMIT 1`;

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
  return row === undefined ? {} : { complete_from: String(row['ns']) };
}
