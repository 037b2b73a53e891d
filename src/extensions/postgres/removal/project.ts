/**
 * Removes a project with everything that belongs to it: keys first, so that nothing more arrives, then its records,
 * then the rest in one transaction. It can be repeated after an interruption.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { inTransaction } from '../../../component/in-transaction.ts';
import type { PostgresDatabase } from '../../../component/capabilities/postgres.ts';
import { COMMAND_LINE } from '../../../component/capabilities/people.ts';
import { writeAudit } from '../audit.ts';
import { requestErasure } from './archived.ts';
import { REMOVAL_LIMITS, type Removed, removeRecords } from './records.ts';

export interface ProjectRemoval {
  readonly project: string;
  /** How long daemons may accept a revoked key. */
  readonly revocationMs: number;
  readonly report: (records: number) => void;
}

const REVOKE = 'UPDATE sluice.api_keys SET revoked_at = now() WHERE project = $1 AND revoked_at IS NULL';
/**
 * What was stored after the batches, and rows without a time. Keys and settings are deleted with the project. Shared
 * resources and scopes are not deleted: daemons remember which ones are stored, and do not store them a second time.
 */
const REST = [
  'DELETE FROM sluice.spans WHERE project = $1',
  'DELETE FROM sluice.logs WHERE project = $1',
  'DELETE FROM sluice.metric_points WHERE project = $1',
  'DELETE FROM sluice.traces WHERE project = $1',
  'DELETE FROM sluice.outbox WHERE project = $1',
  'DELETE FROM sluice.parts WHERE project = $1',
  'DELETE FROM sluice.replay_markers WHERE project = $1',
  'DELETE FROM sluice.usage_months WHERE project = $1',
  'UPDATE sluice.people SET projects = array_remove(projects, $1) WHERE $1 = ANY (projects)',
  'DELETE FROM sluice.projects WHERE name = $1',
];

export async function removeProject(
  database: Pick<PostgresDatabase, 'session' | 'query'>,
  { project, revocationMs, report }: ProjectRemoval,
): Promise<Removed> {
  const { rowCount: revoked } = await database.query(REVOKE, [project]);
  const since = performance.now();
  const removed = await removeRecords(database, { project, environment: null, beforeMs: null }, report);
  const left = since + revocationMs - performance.now();
  if ((revoked ?? 0) > 0 && left > 0) await pause(left);
  await database.session(REMOVAL_LIMITS, async (query) => {
    await inTransaction(query, async () => {
      for (const text of REST) await query(text, [project]);
      await requestErasure(query, { project });
      await writeAudit(query, COMMAND_LINE, {
        action: 'project.remove',
        project,
        target: project,
        details: { ...removed },
      });
    });
  });
  return removed;
}
