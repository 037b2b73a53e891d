/** The content of most test databases: the migrated schema, made once in a run and copied. */
import { Database } from '../../src/extensions/postgres/database.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import type { Template } from './postgres.ts';

export const MIGRATED: Template = {
  name: 'migrated',
  prepare: async (url) => {
    const database = new Database().use({ connectionString: url });
    await migrate(database, 'public');
    await database.close();
  },
};
