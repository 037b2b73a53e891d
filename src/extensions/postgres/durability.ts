/** Whether the server keeps what it has acknowledged: asked at start, because nothing we do can make up for it later. */
import { UserError } from '../../errors.ts';
import type { Database } from './database.ts';

const SETTINGS = ['fsync', 'synchronous_commit', 'full_page_writes'] as const;

/** Throws a `UserError` when the server may forget committed rows after a crash, unless `allowed`. Returns what it is that is off. */
export async function checkDurability(database: Database, allowed: boolean): Promise<readonly string[]> {
  const { rows } = await database.query('SELECT name, setting FROM pg_settings WHERE name = ANY ($1)', [[...SETTINGS]]);
  const off = rows
    .filter(({ name, setting }) => setting === 'off' && name !== 'synchronous_commit')
    .map(({ name }) => String(name));
  if (off.length > 0 && !allowed) {
    throw new UserError(
      `the PostgreSQL server runs with ${off.map((name) => `${name} = off`).join(' and ')}: it can lose acknowledged data in a crash`,
      'Turn the setting on, or accept the loss with extensions.postgres.allow_unsafe: true.',
    );
  }
  return off;
}
