/**
 * The figures by which two sets of rows are compared: their number, the sums of tokens and cost, and a sum over the
 * hashes of their ids, which does not depend on the order. PostgreSQL and DuckDB compute them from their own rows.
 */
import { type LakeTable, identityIn, quoteds } from './lake-table.ts';

/** Exact numbers in their decimal form. */
export interface Figures {
  readonly records: string;
  readonly inputTokens: string;
  readonly outputTokens: string;
  readonly totalCost: string;
  readonly idsSum: string;
}

/** 60 bits of MD5. Sums of them cannot overflow in either database. */
const HASHES = {
  postgres: (text: string): string => `('x' || left(md5(${text}), 15))::bit(60)::int8`,
  duckdb: (text: string): string => `('0x' || left(md5(${text}), 15))::BIGINT`,
};

/** The list of a SELECT. */
export function figuresIn(database: 'postgres' | 'duckdb', table: LakeTable): string {
  const sum = (expression: string): string => `coalesce(sum(${expression}), 0)::text`;
  const cost = `coalesce(sum(total_cost), 0)::decimal(38,8)::text`;
  return `count(*)::text AS "records",
    ${table.hasUsage ? sum('input_tokens') : "'0'"} AS "inputTokens",
    ${table.hasUsage ? sum('output_tokens') : "'0'"} AS "outputTokens",
    ${table.hasUsage ? cost : "'0'"} AS "totalCost",
    ${sum(HASHES[database](identityIn(database, table)))} AS "idsSum"`;
}

export function figuresOf(row: Readonly<Record<string, unknown>> | undefined): Figures {
  const text = (name: keyof Figures): string => String(row?.[name]);
  return {
    records: text('records'),
    inputTokens: text('inputTokens'),
    outputTokens: text('outputTokens'),
    totalCost: text('totalCost'),
    idsSum: text('idsSum'),
  };
}

/** The names of the figures that differ. */
export function differences(left: Figures, right: Figures): readonly (keyof Figures)[] {
  const names = ['records', 'inputTokens', 'outputTokens', 'totalCost', 'idsSum'] as const;
  return names.filter((name) => left[name] !== right[name]);
}

/** A sum over the hashes of whole rows, within DuckDB: each value of each column is read. */
export const contentSum = ({ columns }: LakeTable): string =>
  `coalesce(sum(hash(${quoteds(columns.map(({ name }) => name))})), 0)::text AS content`;
