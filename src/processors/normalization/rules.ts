/** The tables of the dialects as numbered rules: one for each source of a field. */
import { CATEGORY_OF, type Operation, OPERATIONS, ROLLUP_CATEGORIES } from '../../dialects/categories.ts';
import { type Dialect, FIELDS, type Place, type ReadField, type SourceRow, type Unit } from '../../dialects/dialect.ts';
import { CATEGORIES } from '../../pdata/columns.ts';

export const FIELD_COUNT = FIELDS.length;

export function fieldNumber(field: ReadField): number {
  return FIELDS.indexOf(field);
}

/** Operations are numbered from 1; 0 is none. */
export function operationNumber(operation: Operation): number {
  return OPERATIONS.indexOf(operation) + 1;
}
export const OPERATION_CATEGORY: Uint8Array = Uint8Array.from([
  0,
  ...OPERATIONS.map((operation) => CATEGORIES.indexOf(CATEGORY_OF[operation])),
]);
/** By category: whether its usage repeats the usage of its descendants. */
const IS_ROLLUP: readonly boolean[] = CATEGORIES.map((name) => name !== null && ROLLUP_CATEGORIES.includes(name));
export function isRollup(category: number): boolean {
  return IS_ROLLUP[category] === true;
}

export const PLACE_BITS: Readonly<Record<Place, number>> = { span: 1, log: 2, span_event: 4 };
/**
 * Patterns whose keys form one value together. A `{k}` in the middle of a key selects one of several values instead.
 */
const FLATTENED = /\{[ij]\}|\*|\{k\}$/;
const ATTRIBUTES_OF_RECORDS = PLACE_BITS.span | PLACE_BITS.log;

export interface Rule {
  readonly number: number;
  readonly field: number;
  readonly attribute: string;
  /** Index of its dialect. */
  readonly dialect: number;
  /** Its order among all rules. */
  readonly order: number;
  readonly paths: readonly string[] | null;
  readonly sum: boolean;
  /** Indexes of the dialects it needs; null: none. */
  readonly only: ReadonlySet<number> | null;
  /** Bits of operation numbers it needs; 0: any. */
  readonly when: number;
  readonly places: number;
  readonly unit: Unit | null;
  readonly before: string | null;
  readonly after: string | null;
  /** The whole value of the attribute is the value of the field. */
  readonly whole: boolean;
  readonly proves: 'inside' | 'outside' | null;
  readonly aggregate: boolean;
  readonly last: boolean;
  readonly flattened: boolean;
  /** The model name may be that of the request or of the response. */
  readonly either: boolean;
  readonly general: 'shared' | 'person' | null;
  /** The rule comes from the configuration. It reads no text of a value that privacy dropped. */
  readonly own: boolean;
}

/** All rules, in the order of the dialects. */
export function compileRules(dialects: readonly Dialect[]): Rule[] {
  const rules: Rule[] = [];
  const indexes = new Map(dialects.map((dialect, index) => [dialect.id, index]));
  for (const [dialect, { fields, own = false }] of dialects.entries()) {
    for (const field of FIELDS) {
      for (const source of fields?.[field] ?? []) {
        const row: SourceRow = typeof source === 'string' ? { attribute: source } : source;
        if (row.excluded !== true) rules.push(compileRow(row, rules.length, field, { dialect, own, indexes }));
      }
    }
  }
  return rules;
}

interface RuleOwner {
  readonly dialect: number;
  readonly own: boolean;
  readonly indexes: ReadonlyMap<string, number>;
}

function compileRow(row: SourceRow, number: number, field: ReadField, { dialect, own, indexes }: RuleOwner): Rule {
  return {
    number,
    field: fieldNumber(field),
    attribute: row.attribute,
    dialect,
    order: number,
    paths: row.paths ?? null,
    sum: row.sum ?? false,
    only: row.only === undefined ? null : new Set(row.only.flatMap((id) => indexes.get(id) ?? [])),
    when: (row.when ?? []).reduce((bits, operation) => bits | (1 << operationNumber(operation)), 0),
    places: row.on === undefined ? ATTRIBUTES_OF_RECORDS : PLACE_BITS[row.on],
    unit: row.unit ?? null,
    before: row.before ?? null,
    after: row.after ?? null,
    whole: row.paths === undefined && row.before === undefined && row.after === undefined,
    proves: row.proves ?? null,
    aggregate: row.aggregate ?? false,
    last: row.last ?? false,
    flattened: FLATTENED.test(row.attribute),
    either: row.either ?? false,
    general: row.general ?? null,
    own,
  };
}
