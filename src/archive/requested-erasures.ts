/** Erasures that are requested and not finished: their records are still in files, and no command shows them. */
import type { Query } from '../component/capabilities/postgres.ts';
import { literal } from './duckdb.ts';
import type { LakeTable } from './lake-table.ts';

export interface Erasure {
  readonly id: string;
  /** As text with microseconds. */
  readonly requestedAt: string;
  readonly project: string | null;
  readonly environment: string | null;
  readonly traceId: string | null;
}

export async function readErasures(query: Query): Promise<readonly Erasure[]> {
  const { rows } = await query(
    `SELECT id::text, to_char(requested_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS at, project, environment, trace_id
     FROM sluice.lake_erasures ORDER BY id`,
  );
  return rows.map((row) => ({
    id: String(row['id']),
    requestedAt: String(row['at']),
    project: row['project'] as string | null,
    environment: row['environment'] as string | null,
    traceId: row['trace_id'] as string | null,
  }));
}

/** A condition of DuckDB, of at least one erasure. Metric points belong to no trace. */
export function conditionOf({ signal }: Pick<LakeTable, 'signal'>, erasures: readonly Erasure[]): string {
  const conditions = erasures.map(({ requestedAt, project, environment, traceId }) => {
    if (traceId !== null && signal === 'metric_points') return 'false';
    const parts = [`received_at <= TIMESTAMPTZ ${literal(`${requestedAt}+00`)}`];
    if (project !== null) parts.push(`project = ${literal(project)}`);
    if (environment !== null) parts.push(`environment = ${literal(environment)}`);
    if (traceId !== null) parts.push(`trace_id = ${literal(traceId)}`);
    return `(${parts.join(' AND ')})`;
  });
  return conditions.join(' OR ');
}
