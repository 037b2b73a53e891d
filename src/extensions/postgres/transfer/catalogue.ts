/**
 * What a schema contains, read from PostgreSQL's catalogue, so that tables of later migrations are included without a
 * list of names.
 */
import pg from 'pg';
import { UserError } from '../../../errors.ts';
import { isMigration } from '../schema-state.ts';

/** A table, or one partition of it. Each is copied as a whole. */
export interface Unit {
  readonly table: string;
  /** The table itself, or its partition. */
  readonly name: string;
  /** Size on disk, for the progress. */
  readonly bytes: number;
}

export interface Table {
  readonly name: string;
  /** Without generated columns. */
  readonly columns: readonly string[];
}

export interface Partition {
  readonly table: string;
  readonly name: string;
  /** `FOR VALUES FROM (…) TO (…)` or `DEFAULT`. */
  readonly bound: string;
}

export interface Sequence {
  readonly name: string;
  /** Null when it has not been used. */
  readonly lastValue: string | null;
}

export interface Catalogue {
  /** Names of the applied migrations: the level of the schema. */
  readonly migrations: readonly string[];
  /** A table comes after those that its foreign keys name. */
  readonly tables: readonly Table[];
  readonly partitions: readonly Partition[];
  readonly sequences: readonly Sequence[];
  readonly units: readonly Unit[];
}

/** The level of the schema is part of the catalogue; the rows are not copied. */
const MIGRATIONS = 'migrations';
/** The suffixes of the tables to which the maintenance copies a default partition (`exporters/postgres/rewrite.ts`). */
const TRANSIENT = ['_next', '_old'];

const TABLES = `
  SELECT c.relname AS name, c.relkind = 'p' AS partitioned, has_table_privilege(c.oid, 'SELECT') AS readable
  FROM pg_class c
  WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relpersistence = 'p'
  ORDER BY c.relname`;
const COLUMNS = `
  SELECT c.relname AS table, array_agg(a.attname::text ORDER BY a.attnum) AS columns
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE c.relnamespace = 'sluice'::regnamespace AND c.relname = ANY ($1) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  GROUP BY c.relname`;
const PARTITIONS = `
  SELECT p.relname AS table, c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bound,
    has_table_privilege(c.oid, 'SELECT') AS readable
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class p ON p.oid = i.inhparent
  WHERE p.relnamespace = 'sluice'::regnamespace AND p.relname = ANY ($1) ORDER BY p.relname, c.relname`;
const REFERENCES = `
  SELECT DISTINCT c.relname AS from, r.relname AS to
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_class r ON r.oid = k.confrelid
  WHERE k.contype = 'f' AND k.connamespace = 'sluice'::regnamespace AND k.conrelid <> k.confrelid`;
const SEQUENCES = `
  SELECT s.sequencename AS name, s.last_value::text AS "lastValue",
    has_sequence_privilege(format('%I.%I', s.schemaname, s.sequencename), 'SELECT') AS readable
  FROM pg_sequences s WHERE s.schemaname = 'sluice' ORDER BY s.sequencename`;
const SIZES = `
  SELECT c.relname AS name, pg_table_size(c.oid)::float8 AS bytes FROM pg_class c
  WHERE c.relnamespace = 'sluice'::regnamespace AND c.relname = ANY ($1)`;

interface Listed {
  readonly name: string;
  readonly partitioned: boolean;
  readonly readable: boolean;
}

/** The tables to copy, without partitions. */
export async function listTables(client: pg.Client): Promise<readonly string[]> {
  const { rows } = await client.query<Listed>(TABLES);
  const passing = rows
    .filter(({ partitioned }) => partitioned)
    .flatMap(({ name }) => TRANSIENT.map((suffix) => name + suffix));
  const lasting = rows.filter(({ name }) => name !== MIGRATIONS && !passing.includes(name));
  refuseUnreadable(lasting);
  return lasting.map(({ name }) => name);
}

/** The tables must be locked, so that no partition is added or dropped meanwhile. */
export async function readCatalogue(client: pg.Client, names: readonly string[]): Promise<Catalogue> {
  const { rows: applied } = await client.query<{ name: string }>('SELECT name FROM sluice.migrations ORDER BY name');
  const { rows: columns } = await client.query<{ table: string; columns: string[] }>(COLUMNS, [names]);
  const { rows: partitions } = await client.query<Partition & { readable: boolean }>(PARTITIONS, [names]);
  const { rows: references } = await client.query<Reference>(REFERENCES);
  const { rows: sequences } = await client.query<Sequence & { readable: boolean }>(SEQUENCES);
  refuseUnreadable([...partitions, ...sequences]);
  const ordered = inOrder(names, references);
  const tables = ordered.map((name) => ({ name, columns: columns.find(({ table }) => table === name)?.columns ?? [] }));
  return {
    migrations: applied.map(({ name }) => name).filter(isMigration),
    tables,
    partitions: partitions.map(({ table, name, bound }) => ({ table, name, bound })),
    sequences: sequences.map(({ name, lastValue }) => ({ name, lastValue })),
    units: await measure(client, unitsOf(ordered, partitions)),
  };
}

/** The statement of COPY up to the direction. The columns are named, because their order may differ. */
export function copyTarget({ table, name }: Pick<Unit, 'table' | 'name'>, tables: readonly Table[]): string {
  const columns = tables.find((each) => each.name === table)?.columns ?? [];
  return `COPY sluice.${pg.escapeIdentifier(name)} (${columns.map(pg.escapeIdentifier).join(', ')})`;
}

function unitsOf(tables: readonly string[], partitions: readonly Partition[]): readonly Omit<Unit, 'bytes'>[] {
  return tables.flatMap((table) => {
    const own = partitions.filter((partition) => partition.table === table);
    return own.length === 0 ? [{ table, name: table }] : own.map(({ name }) => ({ table, name }));
  });
}

async function measure(client: pg.Client, units: readonly Omit<Unit, 'bytes'>[]): Promise<readonly Unit[]> {
  const { rows } = await client.query<{ name: string; bytes: number }>(SIZES, [units.map(({ name }) => name)]);
  const sizes = new Map(rows.map(({ name, bytes }) => [name, bytes]));
  return units.map((unit) => ({ ...unit, bytes: sizes.get(unit.name) ?? 0 }));
}

interface Reference {
  readonly from: string;
  readonly to: string;
}

/** Referenced tables first. Tables that refer to each other keep their order; the server then refuses the rows. */
function inOrder(names: readonly string[], references: readonly Reference[]): readonly string[] {
  const ordered: string[] = [];
  let left = [...names];
  while (left.length > 0) {
    const free = left.filter((name) => !references.some(({ from, to }) => from === name && left.includes(to)));
    const next = free.length === 0 ? left : free;
    ordered.push(...next);
    left = left.filter((name) => !next.includes(name));
  }
  return ordered;
}

function refuseUnreadable(relations: readonly { readonly name: string; readonly readable: boolean }[]): void {
  const [first] = relations.filter(({ readable }) => !readable);
  if (first === undefined) return;
  throw new UserError(
    `the database user may not read sluice.${first.name}`,
    'Use the user of the daemon, or run as a superuser: GRANT pg_read_all_data TO … (PostgreSQL 14 or newer).',
  );
}
