/** Rows of NDJSON, as the exporters write them, with the columns and types of the lake. */
import { literal, quoted } from '../duckdb.ts';
import { type LakeTable, ROW_COLUMNS } from '../lake-table.ts';

/** The default limit of DuckDB. */
const LEAST_LINE_BYTES = 16 * 1024 * 1024;
/** Whole doubles below this are also read as integers of 64 bits. */
const LARGEST_DOUBLE = '9.2e18';
const NUMBER = "(value ->> '$')";
const VALUES: Readonly<Record<string, string>> = {
  value: `${NUMBER}::DOUBLE`,
  value_int: `CASE WHEN regexp_full_match(${NUMBER}, '-?[0-9]{1,19}') THEN TRY_CAST(${NUMBER} AS BIGINT)
    WHEN isfinite(${NUMBER}::DOUBLE) AND abs(${NUMBER}::DOUBLE) < ${LARGEST_DOUBLE} AND trunc(${NUMBER}::DOUBLE) = ${NUMBER}::DOUBLE
    THEN ${NUMBER}::DOUBLE::BIGINT END`,
};

/** A query of DuckDB over the lines of a file, in their order. `longestLine`: in bytes. */
export function lineQuery({ signal, columns }: LakeTable, path: string, longestLine: number): string {
  const structured = new Set(ROW_COLUMNS[signal].flatMap(({ name, type }) => (type === 'json' ? [name] : [])));
  const isStructured = (name: string): boolean => structured.has(name) || name === 'value';
  const names = columns.map(({ name }) => name).filter((name) => name !== 'value_int');
  const types = names.map((name) => `${quoted(name)}: '${isStructured(name) ? 'JSON' : 'VARCHAR'}'`);
  const list = columns.map(({ name, type }) => {
    const column = quoted(name);
    if (structured.has(name)) return `nullif(${column}::VARCHAR, 'null') AS ${column}`;
    return `${(signal === 'metric_points' && VALUES[name]) || `${column}::${type}`} AS ${column}`;
  });
  return `SELECT ${list.join(', ')} FROM read_json(${literal(path)}, format = 'newline_delimited', columns = {${types.join(', ')}},
    maximum_object_size = ${Math.max(LEAST_LINE_BYTES, longestLine + 1)})`;
}
