/** Which column a setting of the derived row fills, and which fields fill a column. */
import type { ReadField } from '../../dialects/dialect.ts';
import { DERIVED_COLUMNS, PRICING_NUMBERS } from '../../pdata/columns.ts';
import * as layout from '../../pdata/layout.ts';
import type { Setting } from './recording.ts';
import { fieldNumber } from './rules.ts';

/** Columns that are filled from fields of other names. */
const FIELDS_OF_COLUMN: Readonly<Record<string, readonly ReadField[]>> = {
  provider: ['provider', 'response_model', 'request_model'],
  cache_write_tokens: ['cache_write_tokens', 'cache_write_5m_tokens', 'cache_write_1h_tokens'],
  finish_reasons: ['finish_reason'],
  latency_ms: ['latency'],
  time_to_first_token_ms: ['time_to_first_token'],
  is_error: ['failed'],
};
const COLUMN_OF_FIELD: Readonly<Record<string, string>> = {
  finish_reason: 'finish_reasons',
  latency: 'latency_ms',
  time_to_first_token: 'time_to_first_token_ms',
  failed: 'is_error',
  cache_write_5m_tokens: 'cache_write_tokens',
};

/** By part of the derived row, as `slot 3`: the column. */
const COLUMN_OF_PART: ReadonlyMap<string, string> = new Map(
  [...DERIVED_COLUMNS, ...PRICING_NUMBERS].flatMap(({ name }) =>
    (['slot', 'number'] as const).flatMap((part) => {
      const constants: Readonly<Record<string, number | undefined>> = layout;
      const at = constants[`${part.toUpperCase()}_${name.toUpperCase()}`];
      return at === undefined ? [] : [[`${part} ${at}`, name] as const];
    }),
  ),
);
export const columnOfField = (field: string): string => COLUMN_OF_FIELD[field] ?? field;
export const isCount = (column: string): boolean => column.endsWith('_tokens');
export const fieldsOfColumn = (column: string): readonly number[] =>
  (FIELDS_OF_COLUMN[column] ?? [column as ReadField]).map(fieldNumber);

export function columnOf({ part, index }: Setting): string | null {
  if (part !== 'byte') return COLUMN_OF_PART.get(`${part} ${index}`) ?? null;
  if (index === layout.DERIVED_CATEGORY) return 'category';
  if (index === layout.DERIVED_IS_ERROR) return 'is_error';
  return index === layout.DERIVED_USAGE_SCOPE ? 'usage_scope' : null;
}
