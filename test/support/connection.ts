/** Connections of a test to a database. */
import type { Test } from 'tap';
import pg from 'pg';

/** A connection that is closed at the end of the test. */
export async function connectTo(t: Pick<Test, 'teardown'>, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

/** The rows of one statement, on a connection of its own. */
export async function ask(
  url: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
