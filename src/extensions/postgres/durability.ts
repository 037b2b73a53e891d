/** Whether the server keeps what it has acknowledged: asked at the start, because nothing done later can make up for it. */
import type pg from 'pg';

const SETTINGS = ['fsync', 'full_page_writes'];

/** The settings that are off and let the server forget committed rows in a crash. */
export async function unsafeSettings(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<{ name: string }>(
    "SELECT name FROM pg_settings WHERE name = ANY ($1) AND setting = 'off' ORDER BY name",
    [SETTINGS],
  );
  return rows.map(({ name }) => name);
}
