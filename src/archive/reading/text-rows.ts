/** Rows of Parquet files as the text of COPY, which PostgreSQL reads into a table like `sluice.spans`. */
import type { Column } from '../../pdata/columns.ts';
import { literal, quoted } from '../duckdb.ts';
import { type LakeSignal, ROW_COLUMNS } from '../lake-table.ts';

/** A metric's value has other columns in the lake than in the table. */
const LAKE_NAMES: Readonly<Record<string, readonly string[]>> = {
  value_int: ['value_int'],
  value_double: ['value_int', 'value'],
};

export const columnNames = (signal: LakeSignal): readonly string[] => ROW_COLUMNS[signal].map(({ name }) => name);

/** The columns of the files that hold these columns of the table. */
export const lakeNames = (names: Iterable<string>): ReadonlySet<string> =>
  new Set([...names].flatMap((name) => LAKE_NAMES[name] ?? [name]));

export interface TextQuery {
  readonly signal: LakeSignal;
  /** Columns of the table. */
  readonly names: readonly string[];
  /** Columns that the file has. */
  readonly present: ReadonlySet<string>;
  readonly from: string;
  readonly where: string;
}

/** A statement of DuckDB that writes the rows to a file. */
export function textQuery({ signal, names, present, from, where }: TextQuery, path: string): string {
  const list = ROW_COLUMNS[signal]
    .filter(({ name }) => names.includes(name))
    .map((column) => (isPresent(column.name, present) ? expressionOf(column) : 'NULL'));
  return `COPY (SELECT ${list.join(', ')} FROM ${from} WHERE ${where}) TO ${literal(path)}
    (FORMAT csv, HEADER false, DELIMITER '\t', QUOTE '', ESCAPE '', NULLSTR '\\N')`;
}

const isPresent = (name: string, present: ReadonlySet<string>): boolean =>
  [...lakeNames([name])].every((each) => present.has(each));

/** COPY reads a backslash as the beginning of an escape; `\x` in the value begins bytes in hex. */
function expressionOf({ name, type }: Column): string {
  if (name === 'value_double') return 'CASE WHEN value_int IS NULL THEN value END';
  if (type === 'trace_id' || type === 'span_id') return `'\\\\x' || ${quoted(name)}`;
  if (type !== 'text' && type !== 'json') return quoted(name);
  const escapes = [
    ["'\\'", "'\\\\'"],
    ['chr(9)', "'\\t'"],
    ['chr(10)', "'\\n'"],
    ['chr(13)', "'\\r'"],
  ];
  return escapes.reduce((text, [from, to]) => `replace(${text}, ${from}, ${to})`, quoted(name));
}
