/** Changes with their entries in `sluice.audit`, by one statement, so that neither exists without the other. */
import type { Actor } from '../../component/capabilities/people.ts';
import type { Query } from '../../component/capabilities/postgres.ts';

export interface Change {
  /** `key.create`, `person.remove`, … */
  readonly action: string;
  readonly project: string | null;
  readonly target: string;
  readonly details?: Readonly<Record<string, unknown>>;
  /** INSERT, UPDATE or DELETE without RETURNING. */
  readonly text: string;
  readonly values: readonly unknown[];
  /** Data-modifying WITH queries that belong to the change: `name AS (…)`. */
  readonly beside?: string;
  /** The columns of the answer. */
  readonly returning?: string;
}

const INSERT = 'INSERT INTO sluice.audit (person, actor, action, project, target, details)';

/** The changed rows; without a row nothing is written to the audit. */
export async function audited(query: Query, by: Actor, change: Change): Promise<readonly Record<string, unknown>[]> {
  const { text, values, beside, returning = '1 AS changed' } = change;
  const at = (offset: number): string => `$${values.length + offset}`;
  const { rows } = await query(
    `WITH ${beside === undefined ? '' : `${beside}, `}changed AS (${text} RETURNING ${returning}),
      audit AS (${INSERT} SELECT ${at(1)}::text, ${at(2)}::text, ${at(3)}::text, ${at(4)}::text, ${at(5)}::text, ${at(6)}::jsonb
        WHERE EXISTS (SELECT FROM changed))
      SELECT * FROM changed`,
    [...values, by.id, by.name, change.action, change.project, change.target, detailsOf(change)],
  );
  return rows;
}

/** For a change of several statements, within its transaction. */
export async function writeAudit(
  query: Query,
  by: Actor,
  change: Pick<Change, 'action' | 'project' | 'target' | 'details'>,
): Promise<void> {
  await query(`${INSERT} VALUES ($1, $2, $3, $4, $5, $6::jsonb)`, [
    by.id,
    by.name,
    change.action,
    change.project,
    change.target,
    detailsOf(change),
  ]);
}

const detailsOf = ({ details }: Pick<Change, 'details'>): string | null =>
  details === undefined ? null : JSON.stringify(details);
