/** docs/storage.md names the real columns, and the queries in it and in the README run. */
import t from 'tap';
import {
  CATEGORIES,
  type Column,
  COLUMN_TYPES,
  DERIVED_COLUMNS,
  LOG_COLUMNS,
  METRIC_COLUMNS,
  SPAN_COLUMNS,
} from '../../src/pdata/columns.ts';
import { startPostgresDaemon } from '../support/postgres-daemon.ts';
import { bare, codeBlocks, read, section, tableIn } from './markdown.ts';

const text = read('docs/storage.md');
const TABLES: readonly (readonly [string, readonly string[], readonly Column[]])[] = [
  ['spans', ['Owner', 'Spans', 'Derived', 'Source'], SPAN_COLUMNS],
  ['logs', ['Owner', 'Logs', 'Derived', 'Source'], LOG_COLUMNS],
  ['metric_points', ['Owner', 'Metric points', 'Source'], METRIC_COLUMNS],
];
const documented = (heading: string) => tableIn(section(text, `### ${heading}`));

for (const [name, headings, columns] of TABLES) {
  t.test(`the columns of ${name} equal the documented ones, with their types, in their order`, async (t) => {
    t.same(
      headings.flatMap(documented).map(([column, type]) => `${bare(column)} ${type}`),
      columns.map(({ name, type }) => `${name} ${COLUMN_TYPES[type].view}`),
    );
  });
}

t.test('the derived columns are listed together, and the categories by name', async (t) => {
  const rows = documented('Derived');
  t.equal(rows.length, DERIVED_COLUMNS.length);
  const [, , meaning = ''] = rows[0] ?? [];
  t.same(
    [...meaning.matchAll(/`([a-z_]+)`/g)].map(([, category]) => category),
    CATEGORIES.filter((category) => category !== null),
  );
});

t.test('on a real database', async (t) => {
  const daemon = await startPostgresDaemon(t);

  t.test('every relation of the list exists', async (t) => {
    for (const [names = ''] of tableIn(text)) {
      for (const [, name = ''] of names.matchAll(/`([a-z_.]+)`/g))
        await t.resolves(daemon.query(`TABLE ${name} LIMIT 1`), name);
    }
  });

  t.test('every view has the documented columns and types', async (t) => {
    for (const [name, headings] of TABLES) {
      const rows = await daemon.query(
        `SELECT attname, format_type(atttypid, atttypmod) AS type FROM pg_attribute
         WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum`,
        [`public.${name}`],
      );
      const expected = headings.flatMap(documented).map(([column, type]) => `${bare(column)} ${type}`);
      t.same(
        rows.slice(1).map(({ attname, type }) => `${attname} ${shortType(String(type))}`),
        joinValues(expected),
      );
    }
  });

  for (const path of ['docs/storage.md', 'README.md']) {
    for (const sql of codeBlocks(read(path), 'sql')) {
      t.test(`${path}: ${sql.split('\n')[0]}`, async (t) => {
        await t.resolves(daemon.query(sql));
      });
    }
  }
});

/** The view has one `value` where the table has two columns. */
const joinValues = (columns: readonly string[]): readonly string[] =>
  columns
    .filter((column) => column !== 'value_double float8')
    .map((column) => (column === 'value_int int8' ? 'value numeric' : column));

const shortType = (type: string): string =>
  ({
    bigint: 'int8',
    integer: 'int4',
    boolean: 'bool',
    'double precision': 'float8',
    'timestamp with time zone': 'timestamptz',
  })[type] ?? type;
