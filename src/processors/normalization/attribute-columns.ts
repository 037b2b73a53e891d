/**
 * The columns and numbers that the catalogue marks with `filled: 'attribute'`: each gets the first usable value of the
 * attributes that the dialects list for it.
 */
import { type Column, DERIVED_COLUMNS, PRICING_NUMBERS } from '../../pdata/columns.ts';
import * as layout from '../../pdata/layout.ts';
import type { ReadField } from '../../dialects/dialect.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber, type Rule } from './rules.ts';
import { fillName } from './slots.ts';

/** A field, and the slot or number of the derived row that it fills. */
interface Target {
  readonly field: number;
  readonly part: number;
}

function targetsOf(part: 'SLOT' | 'NUMBER', columns: readonly Pick<Column, 'name' | 'filled'>[]): readonly Target[] {
  const constants: Readonly<Record<string, number | undefined>> = layout;
  return columns.flatMap(({ name, filled }) => {
    const at = constants[`${part}_${name.toUpperCase()}`];
    return filled === 'attribute' && at !== undefined ? [{ field: fieldNumber(name as ReadField), part: at }] : [];
  });
}

const COLUMNS: readonly Column[] = DERIVED_COLUMNS;
const NAMES = targetsOf('SLOT', COLUMNS);
const AMOUNTS = targetsOf(
  'NUMBER',
  COLUMNS.filter(({ type }) => type === 'double'),
);
const COUNTS = targetsOf('NUMBER', [...COLUMNS.filter(({ type }) => type === 'count'), ...PRICING_NUMBERS]);

export function fillAttributeColumns(view: RecordView): void {
  for (let index = 0; index < NAMES.length; index++) {
    const { field, part } = NAMES[index] as Target;
    fillName(view, field, part);
  }
  fillNumbers(view, COUNTS, countAt);
  fillNumbers(view, AMOUNTS, amountAt);
}

const countAt = ({ reader }: RecordView, rule: Rule, row: number): number => reader.count(rule, row);
const amountAt = ({ reader }: RecordView, rule: Rule, row: number): number => reader.amount(rule, row);

function fillNumbers(view: RecordView, targets: readonly Target[], read: typeof countAt): void {
  const { fields, derived } = view;
  for (let index = 0; index < targets.length; index++) {
    const { field, part } = targets[index] as Target;
    const candidates = fields.countOf(field);
    for (let candidate = 0; candidate < candidates; candidate++) {
      const rule = fields.ruleAt(field, candidate);
      if (!view.applies(rule)) continue;
      const value = read(view, rule, fields.rowAt(field, candidate));
      if (Number.isNaN(value)) continue;
      derived.setNumber(part, value);
      break;
    }
  }
}
