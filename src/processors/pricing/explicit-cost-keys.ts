/**
 * Finds the costs that records state themselves: their attributes, units and order of precedence. `explicit-cost.ts`
 * decides which values are valid and takes the first valid candidate.
 */
import { type AttributeCursor, isStoredInRow } from '../../pdata/attributes.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import * as layout from '../../pdata/layout.ts';
import type { Steps } from '../../pdata/steps.ts';
import { MAX_HEAD_BYTES } from '../../pdata/text.ts';
import { COST_ORDER } from '../../dialects/costs.ts';
import type { Dialect, SourceRow } from '../../dialects/dialect.ts';
import { parseDocument } from '../../dialects/lookup/documents.ts';
import { DIALECTS } from '../../dialects/families.ts';
import { KeyIndex } from '../../dialects/lookup/key-index.ts';
import { valueAt } from '../../dialects/lookup/paths.ts';
import { trimTo } from '../../dialects/lookup/trim-to.ts';
import { MONEY_DIGITS } from '../../pdata/money.ts';
import { atScale, decimalOfText, formatUnits } from './decimal.ts';
import { readDecimal } from './rates.ts';

export type CostSide = 'total' | 'input' | 'output';

/** One cost as it was stated, in USD: numbers and texts as they were sent. */
export interface CostCandidate {
  readonly attribute: string;
  readonly value: number | string | bigint;
  /** The cost is a sum over other records. */
  readonly aggregate: boolean;
  /** The sender has no price for the model. */
  readonly unpriced: boolean;
}
export type StatedCosts = Readonly<Record<CostSide, readonly CostCandidate[]>>;

/** Longer texts are no costs; longer documents are not parsed. */
const MAX_COST_BYTES = 64;
const AMOUNT = /^\d+(?:\.\d+)?(?:E[+-]?\d+)?$/iu;
const MAX_DOCUMENT_BYTES = MAX_HEAD_BYTES;
const MICRO_DIGITS = 6;
/** Symbols handled in one step. */
const STEP = 256;
/** Above the number of rules. */
const FOREIGN = 1_000_000;
const SIDES: readonly CostSide[] = ['total', 'input', 'output'];
/** The bit of a key that may hold a cost: one that does, or one that was not classified yet. */
const MAY_BE_COST = 1;

interface CostRule {
  readonly side: CostSide;
  readonly row: SourceRow;
  readonly dialect: string;
  /** Among the rules of its dialect, and among the rules of all others, which come later. */
  readonly order: number;
  readonly foreignOrder: number;
}

/** Finds stated costs in one set of tables; it caches the class of each symbol. */
export class ExplicitCosts {
  readonly #rules = new KeyIndex<CostRule>();
  /** By symbol; those of one request are classified again for the next one. */
  readonly #classes = new Uint8Array(layout.MAX_SYMBOLS + layout.MAX_LOCAL_SYMBOLS).fill(MAY_BE_COST);

  constructor(dialects: readonly Dialect[] = DIALECTS) {
    let order = 0;
    for (const { id, fields } of dialects) {
      for (const side of SIDES) {
        for (const source of fields?.[`cost_${side}`] ?? []) {
          const row: SourceRow = typeof source === 'string' ? { attribute: source } : source;
          if (row.excluded === true) continue;
          const foreignOrder = FOREIGN + COST_ORDER.indexOf(row.attribute);
          this.#rules.add(row.attribute, { side, row, dialect: id, order: order++, foreignOrder });
        }
      }
    }
  }

  /**
   * Call it for each request: one record may have tens of thousands of new keys, which are looked up in steps.
   */
  *begin({ tables }: Batch): Steps {
    for (let symbol = layout.MAX_SYMBOLS; symbol < layout.MAX_SYMBOLS + tables.localSymbolCount; symbol++) {
      this.#classes[symbol] = this.#classOf(tables, symbol);
      if (symbol % STEP === STEP - 1) yield;
    }
  }

  /** The costs that a record states, best first; null: none. */
  find(batch: Batch, record: number): StatedCosts | null {
    let found: { readonly rule: CostRule; readonly row: number }[] | null = null;
    const rows = batch.recordAttributes(record);
    while (rows.nextWith(this.#classes, MAY_BE_COST))
      for (const rule of this.#rulesOf(batch, rows.symbol)) (found ??= []).push({ rule, row: rows.row });
    return found === null ? null : this.#sorted(batch, record, found);
  }

  #rulesOf(batch: Batch, symbol: number): readonly CostRule[] {
    this.#classes[symbol] = this.#classOf(batch.tables, symbol);
    return this.#rules.find(batch.tables.nameOf(symbol) ?? '').map(({ entry }) => entry);
  }

  #classOf(tables: Tables, symbol: number): number {
    return this.#rules.find(tables.nameOf(symbol) ?? '').length === 0 ? 0 : MAY_BE_COST;
  }

  #sorted(
    batch: Batch,
    record: number,
    found: readonly { readonly rule: CostRule; readonly row: number }[],
  ): StatedCosts {
    const dialect = dialectOf(batch, record);
    const rank = ({ dialect: owner, order, foreignOrder }: CostRule): number =>
      owner === dialect ? order : foreignOrder;
    const costs: Record<CostSide, CostCandidate[]> = { total: [], input: [], output: [] };
    const usable = found.filter(({ rule }) => rule.row.only === undefined || rule.row.only.includes(dialect));
    for (const { rule, row } of usable.sort((one, other) => rank(one.rule) - rank(other.rule))) {
      const value = statedValue(batch, rule.row, row);
      if (value === null) continue;
      costs[rule.side].push({
        attribute: rule.row.attribute,
        value,
        aggregate: rule.row.aggregate ?? false,
        unpriced: rule.row.zeroIsUnknown === true && rule.dialect === dialect && Number(value) === 0,
      });
    }
    return costs;
  }
}

function dialectOf(batch: Batch, record: number): string {
  const { derived } = batch.records.goto(record);
  if (derived === 0) return '';
  batch.derived.goto(derived);
  return batch.slotText(layout.SLOT_DIALECT) ?? '';
}

function statedValue(batch: Batch, source: SourceRow, row: number): CostCandidate['value'] | null {
  const whole = source.paths === undefined ? plainValue(batch, row) : valueInDocument(batch, source.paths, row);
  const isTrimmed = source.before !== undefined || source.after !== undefined;
  const stated = isTrimmed ? amountOf(trimTo(String(whole), source)) : whole;
  return stated !== null && source.unit === 'micro_usd' ? dollarsOfMicros(stated) : stated;
}

/** The amount beside its unit. Java writes small amounts with an exponent. */
const amountOf = (text: string): number | null => (AMOUNT.test(text) ? Number(text) : null);

function plainValue(batch: Batch, row: number): CostCandidate['value'] | null {
  const attribute = batch.cursor().goto(row);
  switch (attribute.kind) {
    case layout.KIND_DOUBLE:
    case layout.KIND_NUMBER_TEXT:
      return attribute.number;
    case layout.KIND_INT:
      return wholeNumber(attribute);
    case layout.KIND_TEXT:
      if (attribute.length > MAX_COST_BYTES) return null;
      return batch.tables.string(attribute.offset, attribute.length, attribute.flags & layout.TEXT_JSON_ESCAPED);
    default:
      return null;
  }
}

/** Integers beyond the exact range of doubles keep all digits. */
function wholeNumber(attribute: AttributeCursor): number | bigint {
  const value = attribute.number;
  return Number.isSafeInteger(value) ? value : attribute.integer;
}

function valueInDocument(batch: Batch, paths: readonly string[], row: number): CostCandidate['value'] | null {
  const attribute = batch.cursor().goto(row);
  if (!isStoredInRow(attribute.kind) && attribute.length > MAX_DOCUMENT_BYTES) return null;
  const text = attribute.kind === layout.KIND_TEXT ? batch.textOf(row) : batch.jsonOf(row);
  const document = parseDocument(text ?? '');
  for (const path of paths) {
    const value = valueAt(document, path);
    if (typeof value === 'number' || typeof value === 'string') return value;
  }
  return null;
}

/** Exact; a number is rounded as a cost in dollars is. What is no amount is refused later, and explained then. */
function dollarsOfMicros(micros: CostCandidate['value']): CostCandidate['value'] {
  const isNumber = typeof micros === 'number';
  const amount = isNumber ? readDecimal(micros) : decimalOfText(String(micros).trim());
  if (amount === null) return micros;
  const dollars = { units: amount.units, scale: amount.scale + MICRO_DIGITS };
  return isNumber
    ? formatUnits(atScale(dollars, MONEY_DIGITS), MONEY_DIGITS)
    : formatUnits(dollars.units, dollars.scale);
}
