/** The column catalogue agrees with the migrated database, for every table that COPY writes. */
import t from 'tap';
import { COLUMN_TYPES, LOG_COLUMNS, METRIC_COLUMNS, SPAN_COLUMNS, TABLE_COLUMNS } from '../../../src/pdata/columns.ts';
import { openMigrated } from '../../support/migrated.ts';

const SIGNALS = [
  { table: 'spans', copied: TABLE_COLUMNS.traces, shown: SPAN_COLUMNS },
  { table: 'logs', copied: TABLE_COLUMNS.logs, shown: LOG_COLUMNS },
  { table: 'metric_points', copied: TABLE_COLUMNS.metrics, shown: METRIC_COLUMNS },
] as const;
/** Rows of earlier versions have them in the table; COPY writes references instead. */
const FORMER = ['resource jsonb', 'scope_name text', 'scope_version text', 'scope_attributes jsonb'];

t.test('tables and views have the columns of the catalogue, with their types', async (t) => {
  const { database } = await openMigrated(t);
  const columnsOf = async (relation: string): Promise<readonly string[]> => {
    const { rows } = await database.query(
      `SELECT attname AS name, format_type(atttypid, atttypmod) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [relation],
    );
    return rows.map(({ name, type }) => `${name} ${type}`);
  };
  const typeNames = await database.query(
    'SELECT name, format_type(name::regtype, NULL) AS type FROM unnest($1::text[]) AS u (name)',
    [['text', 'jsonb', 'bytea', 'int8', 'int4', 'float8', 'bool', 'timestamptz']],
  );
  const fullName = new Map(typeNames.rows.map(({ name, type }) => [name, type]));
  const written = (name: string, type: string): string => `${name} ${fullName.get(type) ?? type}`;

  for (const { table, copied, shown } of SIGNALS) {
    const stored = copied.map(({ name, type }) => written(name, COLUMN_TYPES[type].table));
    t.same([...(await columnsOf(`sluice.${table}`))].sort(), [...stored, ...FORMER].sort(), `sluice.${table}`);
    const visible = shown.flatMap(({ name, type }) => {
      if (name === 'value_double') return [];
      return name === 'value_int' ? ['value numeric'] : [written(name, COLUMN_TYPES[type].view)];
    });
    t.same(await columnsOf(`public.${table}`), ['signal text', ...visible], `${table} in its order`);
  }
});
