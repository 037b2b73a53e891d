/** The tables over the archive for other engines: current, and those for DuckDB run. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Duck, literal, quoted } from '../../src/archive/duckdb.ts';
import { LAKE_TABLES, type LakeTable } from '../../src/archive/lake-table.ts';
import { read, ROOT } from './markdown.ts';

t.setTimeout(300_000);

const { lakeFiles } = (await import(`file://${ROOT}scripts/lake-ddl.js`)) as {
  lakeFiles(): Readonly<Record<string, string>>;
};
const DAYS = ['2026-11-21', '2026-11-22'];

t.test('the files in docs/examples/lake are current; if not, run `npm run docs`', async (t) => {
  for (const [path, text] of Object.entries(lakeFiles())) t.equal(read(path), text, path);
});

t.test('every engine but DuckDB, which reads the columns itself, has every column once', async (t) => {
  for (const [path, text] of Object.entries(lakeFiles())) {
    if (path.endsWith('duckdb.sql')) continue;
    const statements = text
      .split(/\nCREATE /u)
      .slice(1)
      .map((each) => each.split(/\n'?\)/u)[0]);
    t.equal(statements.length, LAKE_TABLES.length, path);
    for (const [index, { columns }] of LAKE_TABLES.entries()) {
      const names = [...(statements[index] ?? '').matchAll(/^ {2}[`"]?([a-z_]+)[`"]? /gmu)].map(([, name]) => name);
      const known = columns.map(({ name }) =>
        path.endsWith('snowflake.sql') && name === 'value' ? 'point_value' : name,
      );
      t.same(
        names.filter((name) => name !== 'day'),
        known,
      );
    }
  }
});

t.test('the views for DuckDB have the columns, the rows and the days', async (t) => {
  const root = t.testdir();
  const duck = await Duck.open({ memoryBytes: 2 ** 28, folder: root });
  t.teardown(() => duck.close());
  for (const table of LAKE_TABLES) for (const day of DAYS) await duck.run(writeRow(root, table, day));
  await duck.run(read('docs/examples/lake/duckdb.sql').replaceAll('/archive/lake', join(root, 'lake')));
  for (const { signal, columns } of LAKE_TABLES) {
    const described = await duck.rows(`DESCRIBE ${signal}`);
    t.same(
      described.map(({ column_name, column_type }) => `${column_name} ${column_type}`),
      [...columns, { name: 'day', type: 'DATE' }].map(({ name, type }) => {
        return `${name} ${type === 'TIMESTAMPTZ' ? 'TIMESTAMP WITH TIME ZONE' : type}`;
      }),
    );
    const rows = await duck.rows(`SELECT day, project FROM ${signal} WHERE day >= DATE '2026-11-22'`);
    t.same(rows, [{ day: '2026-11-22', project: 'p' }]);
    t.same(await duck.rows(`SELECT count(*)::int AS count FROM ${signal}`), [{ count: 2 }]);
  }
});

/** A file with one row, whose project is `p` and whose other columns are null. */
function writeRow(root: string, { signal, columns }: LakeTable, day: string): string {
  const folder = join(root, 'lake', signal, `day=${day}`);
  mkdirSync(folder, { recursive: true });
  const values = columns.map(({ name, type }) => `${name === 'project' ? "'p'" : 'NULL'}::${type} AS ${quoted(name)}`);
  return `COPY (SELECT ${values.join(', ')}) TO ${literal(join(folder, 'job-1.parquet'))} (FORMAT parquet)`;
}
