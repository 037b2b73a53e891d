/**
 * Protects the database of another application. The default configuration takes DATABASE_URL from the environment, and
 * a shell may have it for something else: `sluice` must not change such a database without being asked.
 */
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { findPostgresOptions } from '../daemon/configured-database.ts';
import type { Call } from './command.ts';
import { plural } from './view/format.ts';

const VARIABLE = 'DATABASE_URL';
/** Whether there is a schema of ours, and how many tables of others. */
const QUESTION = `
  SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'sluice') AS ours, (
    SELECT count(*)::int4 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
  ) AS tables`;

/** Throws a `UserError`. A configuration that is named with --config is meant, and so is an existing schema. */
export async function refuseForeignDatabase({ values, process }: Call, config: Config): Promise<void> {
  const url = findPostgresOptions(config)?.url ?? '';
  if (url === '' || url !== process.env[VARIABLE] || values.list('config').length > 0) return;
  const [{ Database }, { checkUrl, describeDatabase }] = await Promise.all([
    import('../extensions/postgres/database.ts'),
    import('../extensions/postgres/database-url.ts'),
  ]);
  checkUrl(url);
  const database = new Database().use({ connectionString: url });
  // The start reports a database that cannot be asked.
  const found = await database.query(QUESTION).catch(() => null);
  await database.close();
  const row = found?.rows[0];
  if (row === undefined || row['ours'] === true || row['tables'] === 0) return;
  throw new UserError(
    `${VARIABLE} names the database ${describeDatabase(url)}, which has ${plural(Number(row['tables']), 'table')} of another application and none of Sluice`,
    `Unset ${VARIABLE} to use the embedded server, or run \`sluice migrate\` once to use this database.`,
  );
}
