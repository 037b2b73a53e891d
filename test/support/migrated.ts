/** The content of most test databases: the migrated schema, made once in a run and copied. */
import pg from 'pg';
import { Database } from '../../src/extensions/postgres/database.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { createDatabase, type Teardown, type Template } from './postgres.ts';

export const MIGRATED: Template = {
  name: 'migrated',
  prepare: async (url) => {
    const database = new Database().use({ connectionString: url });
    await migrate(database, 'public');
    await database.close();
  },
};

export interface MigratedDatabase {
  readonly url: string;
  readonly database: Database;
  /** A further connection. */
  connect(): Promise<pg.Client>;
}

/** A new migrated database. Its connections end with the test. */
export async function openMigrated(t: Teardown): Promise<MigratedDatabase> {
  const { url } = await createDatabase(t, MIGRATED);
  const database = new Database().use({ connectionString: url });
  const clients: pg.Client[] = [];
  t.teardown(async () => {
    await database.close();
    for (const client of clients) await client.end();
  });
  return {
    url,
    database,
    connect: async () => {
      const client = new pg.Client({ connectionString: url });
      clients.push(client);
      await client.connect();
      return client;
    },
  };
}
