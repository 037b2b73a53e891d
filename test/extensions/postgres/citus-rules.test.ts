/** The schema and the statements of the ledger keep the rules of Citus for the tables that docs/ledger.md names. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type pg from 'pg';
import { GUARD_STATEMENTS } from '../../../src/extensions/postgres/ledger/guard-statements.ts';
import { openMigrated } from '../../support/migrated.ts';

const ROOT = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8');
const DISTRIBUTED = [
  ...read('docs/examples/citus.sql').matchAll(/create_distributed_table\('(?<table>[^']+)', '(?<column>[^']+)'/gu),
].map(({ groups }) => ({ table: String(groups?.['table']), column: String(groups?.['column']) }));
/** Functions that Citus refuses. docs/ledger.md says what does not work without them. */
const REFUSED = ['empty_traces', 'expire_traces', 'expire_traces_for'];

interface Fault {
  readonly table: string;
  readonly fault: string;
}

/** What Citus would refuse of a table that is distributed by this column. */
const FAULTS = `
  WITH place AS (
    SELECT a.attrelid AS id, a.attnum AS number, a.attnotnull AS filled FROM pg_attribute a
    WHERE a.attrelid = $1::regclass AND a.attname = $2)
  SELECT 'there is no such column' AS fault WHERE NOT EXISTS (SELECT FROM place)
  UNION ALL SELECT 'the column may be null' FROM place WHERE NOT filled
  UNION ALL SELECT format('%s does not contain the column', x.relname) FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid, place
    WHERE i.indrelid = id AND (i.indisunique OR i.indisexclusion) AND NOT number = ANY (i.indkey)
  UNION ALL SELECT format('trigger %s', tgname) FROM pg_trigger, place WHERE tgrelid = id AND NOT tgisinternal
  UNION ALL SELECT format('foreign key %s', conname) FROM pg_constraint, place
    WHERE contype = 'f' AND id IN (conrelid, confrelid)
  UNION ALL SELECT format('%s depends on a sequence', attname) FROM pg_attribute JOIN place ON attrelid = id
    LEFT JOIN pg_attrdef d ON d.adrelid = attrelid AND d.adnum = attnum
    WHERE attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE '%nextval(%'
  UNION ALL SELECT 'row security' FROM pg_class, place WHERE oid = id AND relrowsecurity
  UNION ALL SELECT 'a child of another table' FROM pg_inherits, place WHERE inhrelid = id`;

async function faultsOf(client: pg.Client): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { table, column } of DISTRIBUTED)
    for (const { fault } of (await client.query(FAULTS, [table, column])).rows) faults.push({ table, fault });
  return faults;
}

t.test('the tables can be distributed', async (t) => {
  const { connect } = await openMigrated(t);
  t.equal(DISTRIBUTED.length, 2);
  t.same(await faultsOf(await connect()), []);
});

t.test('the check finds what Citus refuses', async (t) => {
  const client = await (await openMigrated(t)).connect();
  await client.query(`
    CREATE UNIQUE INDEX by_owner ON sluice.traces (project);
    ALTER TABLE sluice.traces ADD FOREIGN KEY (project) REFERENCES sluice.projects (name), ADD serial int8 GENERATED ALWAYS AS IDENTITY;
    CREATE TRIGGER changed AFTER INSERT ON sluice.traces FOR EACH STATEMENT EXECUTE FUNCTION sluice.notify_change();
    ALTER TABLE sluice.replay_markers DROP CONSTRAINT replay_markers_pkey, ALTER key DROP NOT NULL`);
  t.same((await faultsOf(client)).map(({ fault }) => fault).sort(), [
    'by_owner does not contain the column',
    'foreign key traces_project_fkey',
    'serial depends on a sequence',
    'the column may be null',
    'trigger changed',
  ]);
});

/** Functions whose result does not depend on the time, the session or the tables. */
const IMMUTABLE = new Set(['least', 'greatest', 'coalesce', 'encode', 'values', 'excluded', 'any', 'in', 'and', 'or']);

/** The functions in a text that are not immutable. */
const changingIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?<name>[a-z_]+)\s*\(/gu)]
    .map(({ groups }) => String(groups?.['name']))
    .filter((name) => !IMMUTABLE.has(name));

/** From the conflict to the end of the statement, without the list of the key. */
function conflictsOf(text: string): readonly string[] {
  const [, ...conflicts] = text.split(/ON CONFLICT(?:\s*\([^)]*\))?/u);
  return conflicts.map((rest) => rest.split(/\)\s*SELECT\b|;/u)[0] ?? '');
}

t.test('conflicts and returned values call only functions that are immutable', async (t) => {
  const names = DISTRIBUTED.map(({ table }) => table);
  const writing = GUARD_STATEMENTS.filter(({ text }) => names.some((name) => text.includes(`INSERT INTO ${name}`)));
  t.equal(writing.length, 4, 'markers and traces, claimed and asserted');
  for (const { name, text } of writing) {
    t.ok(conflictsOf(text).length === 1, name);
    t.same(conflictsOf(text).flatMap(changingIn), [], name);
    t.same(changingIn(text.split(/\bRETURNING\b/u)[1]?.split(/\)\s*SELECT\b/u)[0] ?? ''), [], name);
  }
  t.same(changingIn('SET a = now() WHERE b < clock_timestamp ()'), ['now', 'clock_timestamp']);
});

t.test('no other function locks rows of a distributed table', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const { rows } = await client.query(`
    SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'sluice'::regnamespace AND prosrc ~* 'FOR (NO KEY )?(UPDATE|SHARE)'`);
  const locking = rows.filter(({ prosrc }) => DISTRIBUTED.some(({ table }) => prosrc.includes(table)));
  const unknown = locking.map(({ proname }) => proname).filter((name) => !REFUSED.includes(name));
  t.same(unknown, []);
  t.match(read('docs/ledger.md'), /sluice\.expire_traces_for/u);
});

t.test('the page distributes the tables of the script', async (t) => {
  const page = read('docs/ledger.md');
  for (const { table, column } of DISTRIBUTED) t.match(page, new RegExp(`\\| \`${table}\` \\| \`${column}\``, 'u'));
});
