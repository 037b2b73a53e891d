/**
 * Opens a day of a table by arrival beside a large default partition, which contains no row of the future. A constraint
 * states this and is validated without a lock. The server then attaches the day without a search. Earlier rows stay in
 * the default partition and expire by their arrival.
 */
import type { Query } from '../../component/capabilities/postgres.ts';
import { inTransaction } from '../../component/in-transaction.ts';
import {
  attachment,
  boundAt,
  columnOf,
  creation,
  type PartitionedTable,
  partitionName,
  startOf,
} from './partitions.ts';
import { withShortLocks } from '../../component/short-locks.ts';
import { HOUR_MS } from '../../pdata/time-units.ts';

/**
 * The constraint refuses rows of its day until the day is attached, so the day must begin later. If the process ends in
 * between, the next run of any replica removes the constraint in time, at most an hour later.
 */
const LEAD_MS = 2 * HOUR_MS;
const LOCK_TRIES = 20;
const CONSTRAINT = 'reserved';

/** Rejects when rows of the future exist already; nothing has changed then. */
export async function reserveDay(query: Query, table: PartitionedTable, day: number, nowMs: number): Promise<void> {
  const begin = Math.max(startOf(day), Math.ceil((nowMs + LEAD_MS) / HOUR_MS) * HOUR_MS);
  // The rest of the day goes to the default partition.
  if (begin >= startOf(day + 1)) return;
  const [from, to] = [boundAt(table, begin), boundAt(table, startOf(day + 1))];
  const [column, partition] = [columnOf(table), partitionName(table, day)];
  const constraint = `ADD CONSTRAINT ${CONSTRAINT} CHECK (${column} < ${from} OR ${column} >= ${to}) NOT VALID`;
  await alterDefault(query, table, constraint);
  try {
    await query(`ALTER TABLE sluice.${table.name}_default VALIDATE CONSTRAINT ${CONSTRAINT}`);
    await withShortLocks({ tries: LOCK_TRIES }, () =>
      inTransaction(query, () =>
        query(`${creation(table, partition, from, to)}; ${attachment(table, partition, from, to)}`),
      ),
    );
  } finally {
    await abandonReservation(query, table);
  }
}

/** Removes the constraint that an interrupted run left. */
export async function abandonReservation(query: Query, table: PartitionedTable): Promise<void> {
  const { rowCount } = await query('SELECT FROM pg_constraint WHERE conname = $1 AND conrelid = $2::regclass', [
    CONSTRAINT,
    `sluice.${table.name}_default`,
  ]);
  if (rowCount === 1) await alterDefault(query, table, `DROP CONSTRAINT IF EXISTS ${CONSTRAINT}`);
}

async function alterDefault(query: Query, { name }: PartitionedTable, change: string): Promise<void> {
  await withShortLocks({ tries: LOCK_TRIES }, () => query(`ALTER TABLE sluice.${name}_default ${change}`));
}
