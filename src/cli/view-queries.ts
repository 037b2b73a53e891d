/**
 * One SELECT on the readable views of one project, for `query_sql`. The statement comes from a language model, which
 * may have read instructions in telemetry. The views of the project are temporary views of the transaction; the server
 * itself analyzes the statement into another view, and its analysis must name only those views and functions that read
 * nothing but their arguments. Then the transaction becomes read-only, and it is always rolled back.
 */
import pg from 'pg';
import { endConnection } from '../extensions/postgres/connection-end.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { QUERY_CANCELED, sqlstateOf } from '../extensions/postgres/sqlstate.ts';
import { type Api, projectPath, type SqlAnswer, type SqlQuestion, ToolFault } from '../extensions/console/mcp/tool.ts';
import { SQL_VIEWS } from '../extensions/console/mcp/schema.ts';

const TIMEOUT_MS = 10_000;
const MAX_ROWS = 200;
/** In the analyzed statement; a longer constant makes a large answer. */
const LONGEST_CELL = 2000;
const ROWS = 'sluice_answer';
/** Stable functions of Postgres that read nothing but their arguments, the clock and the time zone. */
const STABLE = (
  'now transaction_timestamp statement_timestamp date_trunc to_char to_timestamp timezone age date_part extract ' +
  'timestamptz timestamp date time to_json to_jsonb jsonb_agg json_agg jsonb_object_agg json_object_agg ' +
  'json_build_object jsonb_build_object json_build_array jsonb_build_array array_to_string concat concat_ws ' +
  'format string_agg row_to_json timestamptz_pl_interval timestamptz_mi_interval'
).split(' ');
/** Immutable functions that make a large value of a small one. */
const EXPENSIVE = ['repeat', 'lpad', 'rpad', 'array_fill'];

export interface QueryParts {
  readonly database: Database;
  readonly views: string;
  readonly api: Api;
}

export async function queryViews(parts: QueryParts, { project, statement }: SqlQuestion): Promise<SqlAnswer> {
  // Refuses a project that the caller may not see.
  await parts.api.get(projectPath(project, ['environments']));
  const client = await parts.database.connect({ statementTimeoutMs: TIMEOUT_MS });
  try {
    await client.query('SET default_transaction_read_only = off; BEGIN');
    await makeViews(client, parts.views, project);
    await analyze(client, statement);
    await client.query('SET TRANSACTION READ ONLY');
    return await readRows(client);
  } catch (error) {
    throw toolFaultOf(error);
  } finally {
    await endConnection(client);
  }
}

/** A security barrier: no function of the statement sees a row of another project. */
async function makeViews(client: pg.Client, views: string, project: string): Promise<void> {
  const name = pg.escapeLiteral(project);
  const made = Object.keys(SQL_VIEWS).map(
    (view) =>
      `CREATE TEMP VIEW ${view} WITH (security_barrier) AS SELECT * FROM ${views}.${view} WHERE project = ${name}`,
  );
  await client.query(`SET LOCAL standard_conforming_strings = on; ${made.join('; ')}; SET LOCAL search_path = pg_temp`);
}

/** The extended protocol takes one statement only, and a view only a query without parameters that changes nothing. */
async function analyze(client: pg.Client, statement: string): Promise<void> {
  await client.query({ text: `CREATE TEMP VIEW ${ROWS} AS ${statement}\n`, queryMode: 'extended' } as pg.QueryConfig);
  const { rows } = await client.query<{ name: string }>(FORBIDDEN, [ROWS, Object.keys(SQL_VIEWS), STABLE, EXPENSIVE]);
  if (rows.length > 0)
    throw new ToolFault(
      `query_sql cannot use ${rows.map(({ name }) => name).join(', ')}: only the views of \`schema\` and functions that read nothing but their arguments`,
    );
}

/**
 * Names in the stored form of the view that are not allowed: of relations, of functions, and of functions of operators.
 * Types must be of pg_catalog, so that no input function of another schema runs.
 */
const FORBIDDEN = `
  WITH tree AS (
    SELECT r.ev_action::text AS text FROM pg_catalog.pg_rewrite r WHERE r.ev_class = ('pg_temp.' || $1::text)::regclass
  ), relation AS (
    SELECT DISTINCT m[1]::oid AS id FROM tree, regexp_matches(text, ':(?:relid|reloid|resorigtbl) (\\d+)', 'g') AS m WHERE m[1] <> '0'
  ), function AS (
    SELECT m[1]::oid AS id FROM tree,
      regexp_matches(text, ':(?:funcid|aggfnoid|winfnoid|opfuncid|elemfuncid|tsmhandler|startInRangeFunc|endInRangeFunc) (\\d+)', 'g') AS m
    UNION SELECT o.oprcode::oid FROM tree, regexp_matches(text, ':(?:opno|eqop|sortop) (\\d+)', 'g') AS m
      JOIN pg_catalog.pg_operator o ON o.oid = m[1]::oid
    UNION SELECT o.oprcode::oid FROM tree, regexp_matches(text, ':opnos \\(o ([\\d ]+)\\)', 'g') AS m,
      unnest(string_to_array(m[1], ' ')) AS each JOIN pg_catalog.pg_operator o ON o.oid = each::oid
  ), type AS (
    SELECT DISTINCT m[1]::oid AS id FROM tree, regexp_matches(text, ':(?:consttype|resulttype|funcresulttype) (\\d+)', 'g') AS m WHERE m[1] <> '0'
  )
  SELECT format('the relation %s', id::regclass) AS name FROM relation
  WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = id AND c.relnamespace = pg_my_temp_schema() AND c.relname::text = ANY ($2::text[] || $1::text))
  UNION
  SELECT format('the function %s', p.proname) FROM function JOIN pg_catalog.pg_proc p ON p.oid = id
  WHERE p.pronamespace <> 'pg_catalog'::regnamespace OR p.proname::text = ANY ($4::text[])
    OR p.provolatile = 'v' OR (p.provolatile = 's' AND p.proname::text <> ALL ($3::text[])
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_operator o WHERE o.oprcode = p.oid AND o.oprnamespace = 'pg_catalog'::regnamespace))
  UNION
  SELECT format('the type %s', format_type(id, NULL)) FROM type JOIN pg_catalog.pg_type y ON y.oid = id
  WHERE (y.typnamespace <> 'pg_catalog'::regnamespace AND y.typnamespace <> pg_my_temp_schema()) OR format_type(id, NULL) LIKE 'reg%'
  LIMIT 5`;

/** Runs the view that was analyzed, not the text of the query again. */
async function readRows(client: pg.Client): Promise<SqlAnswer> {
  const { rows: columns } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute WHERE attrelid = ('pg_temp.' || $1)::regclass AND attnum > 0 ORDER BY attnum`,
    [ROWS],
  );
  const cells = columns.map(({ name }) => `left(r.${pg.escapeIdentifier(name)}::text, ${LONGEST_CELL})`);
  const { rows } = await client.query<{ cells: readonly (string | null)[] }>(
    `SELECT ARRAY[${cells.join(', ')}]::text[] AS cells FROM pg_temp.${ROWS} r LIMIT ${MAX_ROWS + 1}`,
  );
  return {
    columns: columns.map(({ name }) => name),
    rows: rows.slice(0, MAX_ROWS).map((row) => row.cells),
    more: rows.length > MAX_ROWS,
  };
}

/** The server's own words help the model to correct its statement. A fault of the connection is no answer. */
function toolFaultOf(error: unknown): unknown {
  const state = sqlstateOf(error);
  if (state === null || state.startsWith('08') || state.startsWith('57P')) return error;
  if (state === QUERY_CANCELED)
    return new ToolFault(`the statement took longer than ${TIMEOUT_MS / 1000} s; ask for a shorter range of time`);
  const { message, position } = error as { readonly message: string; readonly position?: string };
  const before = `CREATE TEMP VIEW ${ROWS} AS `.length;
  const place = position === undefined ? '' : ` at character ${Math.max(1, Number(position) - before)}`;
  return new ToolFault(`${message}${place} (SQLSTATE ${state})`);
}
