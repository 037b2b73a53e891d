/** Stored prices: the pricing processor reads them, the command line changes them. */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import type { PriceDirectory, StoredPrice } from '../../component/capabilities/price-directory.ts';
import { UserError } from '../../errors.ts';
import type { Announcements } from './announcements.ts';
import { FOREIGN_KEY_VIOLATION, replaceError } from './sqlstate.ts';

/** The limit of entries that are read: a longer price list should be a file. */
const MAX_STORED_PRICES = 5000;

/** The most recently stored entry takes precedence, so that a new entry needs no position. */
const READ = `
  SELECT id, project, entry, created_at FROM sluice.prices
  WHERE $1::text IS NULL OR project = $1 OR project IS NULL
  ORDER BY created_at DESC, id, project LIMIT ${MAX_STORED_PRICES}`;

const STORE = `
  INSERT INTO sluice.prices (id, project, entry) VALUES ($1, $2, $3)
  ON CONFLICT (id, coalesce(project, '')) DO UPDATE SET entry = excluded.entry, created_at = clock_timestamp()`;

export class PostgresPriceDirectory implements PriceDirectory {
  readonly #database: PostgresDatabase;
  readonly #announcements: Announcements;

  constructor(database: PostgresDatabase, announcements: Announcements) {
    this.#database = database;
    this.#announcements = announcements;
  }

  /** None before the database is open: its opening is announced as a change. */
  async readPrices(): Promise<readonly StoredPrice[]> {
    return this.#database.isOpen ? await listPrices(this.#database, null) : [];
  }

  onChange(changed: () => void): () => void {
    return this.#announcements.on('sluice_prices', changed);
  }
}

export interface ListedPrice extends StoredPrice {
  readonly storedAt: Date;
}

/** The stored prices of all projects, or those that apply to one. */
export async function listPrices(database: PostgresDatabase, project: string | null): Promise<readonly ListedPrice[]> {
  const { rows } = await database.query(READ, [project]);
  return rows.map((row) => ({
    id: String(row['id']),
    project: row['project'] as string | null,
    entry: row['entry'],
    storedAt: row['created_at'] as Date,
  }));
}

/** Sorts entries of a project before entries for all. */
export const ownFirst = (one: StoredPrice, other: StoredPrice): number =>
  Number(one.project === null) - Number(other.project === null);

/** Stores an entry, or replaces the one with the same id and project. */
export async function storePrice(database: PostgresDatabase, { id, project, entry }: StoredPrice): Promise<void> {
  const unknown = (): UserError => new UserError(`there is no project "${project}"`, 'See `sluice project list`.');
  await database.query(STORE, [id, project, JSON.stringify(entry)]).catch(replaceError(FOREIGN_KEY_VIOLATION, unknown));
}

/** Returns false when there was none. */
export async function removePrice(database: PostgresDatabase, id: string, project: string | null): Promise<boolean> {
  const { rowCount } = await database.query(
    'DELETE FROM sluice.prices WHERE id = $1 AND project IS NOT DISTINCT FROM $2',
    [id, project],
  );
  return (rowCount ?? 0) > 0;
}
