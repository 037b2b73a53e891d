/** Checks at the start whether the server keeps committed data: no later check can recover lost data. */
import type pg from 'pg';

const SETTINGS = ['fsync', 'full_page_writes'];

/** Settings that are off, so that the server may lose committed rows in a crash. */
export async function unsafeSettings(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT name FROM pg_settings WHERE name = ANY ($1) AND setting = 'off' ORDER BY name",
    [SETTINGS],
  );
  return rows.map(({ name }) => name);
}
