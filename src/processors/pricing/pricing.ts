/**
 * The `pricing` processor: the cost of each model call. A valid cost that the sender states is used; otherwise the cost
 * is computed from usage and the price in force when the call began. An unknown cost is null, never zero.
 */
import { CACHE_COUNTING } from '../../component/capabilities/cache-counting.ts';
import type { Capability } from '../../component/capabilities/capability.ts';
import { type CostDerivation, DERIVATIONS, type Derivations } from '../../component/capabilities/derivations.ts';
import { ownDialects } from '../../component/capabilities/own-dialects.ts';
import { PRICES, type Prices } from '../../component/capabilities/prices.ts';
import type { Host } from '../../component/component.ts';
import type { Counter } from '../../component/meter.ts';
import { PRICE_DIRECTORY } from '../../component/capabilities/price-directory.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import { UserError } from '../../errors.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import { DIALECTS } from '../../dialects/families.ts';
import { ExplicitCosts, type StatedCosts } from './explicit-cost-keys.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { CATEGORIES, COST_SOURCES, USAGE_SCOPES } from '../../pdata/columns.ts';
import type { DerivedCursor } from '../../pdata/derived.ts';
import type { TextRef } from '../../pdata/text.ts';
import * as layout from '../../pdata/layout.ts';
import { emptyUsage, readUsage } from './derived-usage.ts';
import { explainPrice, describePrice } from './explanation.ts';
import { chooseStatedCost, explainStatedCosts } from './explicit-cost.ts';
import type { PricingOptions } from './options.ts';
import { PRICING_OPTIONS_SCHEMA } from './options-schema.ts';
import { InclusiveRules } from './inclusive-rules.ts';
import { ModelMemo } from './model-memo.ts';
import { PriceBook } from './price-book.ts';
import { PriceBooks } from './price-books.ts';
import { PricingOptionsError } from './price-entry.ts';
import { priceFaults } from './price-faults.ts';
import { type Charge, emptyCharge, type PricedModel } from './priced-model.ts';
import type { Usage } from './usage.ts';

const COST_EXPLICIT = COST_SOURCES.indexOf('explicit');
const COST_DERIVED = COST_SOURCES.indexOf('derived');
const USAGE_OWN = USAGE_SCOPES.indexOf('own');
/** By category. */
const IS_CALL: readonly boolean[] = CATEGORIES.map(
  (name) => name === 'model_call' || name === 'embedding' || name === 'rerank' || name === 'media',
);
/** Records handled in one step: the lookup of a new model name takes 40 µs. */
const STEP = 16;

type Outcome = 'explicit' | 'derived' | 'partly' | 'no';
const OUTCOMES: readonly Outcome[] = ['explicit', 'derived', 'partly', 'no'];

/** Caches that belong to one set of tables. */
interface Learned {
  readonly explicit: ExplicitCosts;
  readonly memos: WeakMap<PriceBook, ModelMemo>;
}

class Pricing implements Processor {
  readonly #host: Host;
  readonly #options: PricingOptions;
  readonly #priced: Counter;
  readonly #faults: Counter;
  readonly #usage: Required<Usage>;
  readonly #charge: Charge = emptyCharge();
  readonly #learned = new WeakMap<Tables, Learned>();
  readonly #outcomes: Record<Outcome, number> = { explicit: 0, derived: 0, partly: 0, no: 0 };
  #books: PriceBooks | null = null;
  #stopListening: (() => void) | null = null;

  constructor(options: PricingOptions, host: Host) {
    this.#host = host;
    this.#options = options;
    this.#priced = host.meter.counter('sluice_model_calls', 'Records with token usage, by the source of their cost.');
    this.#faults = host.meter.counter('sluice_stored_price_faults', 'Stored prices with a mistake, which are ignored.');
    host.meter.gauge('sluice_stored_prices', 'Stored prices in force.', () => this.#books?.count ?? 0);
    this.#usage = emptyUsage();
  }

  async start(): Promise<void> {
    if (this.#options.enabled === false) return;
    try {
      this.#books = await sharedBooks(this.#host, this.#options, this.#faults);
    } catch (error) {
      if (!(error instanceof PricingOptionsError)) throw error;
      const problems = error.problems.map(({ path, message }) => `processors.${this.#host.id}.${path}: ${message}`);
      throw new UserError(problems.join('\n'), 'See the pricing section of docs/configuration.md.');
    }
    const books = this.#books;
    offerPrices(books, this.#host);
    this.#stopListening = this.#host.capabilities.find(PRICE_DIRECTORY)?.onChange(() => books.outdate()) ?? null;
    await books.refresh();
  }

  async stop(): Promise<void> {
    this.#stopListening?.();
    this.#stopListening = null;
  }

  /** Stored prices are read ahead, because the pass cannot wait. */
  admit(): Promise<void> | void {
    return this.#books?.refresh();
  }

  *process(batch: Batch): Steps {
    if (batch.signal === 'metrics') return;
    // Null: only stated costs are taken.
    const book = this.#books?.of(batch.context.project.name) ?? null;
    const { explicit, memos } = this.#learnedOf(batch.tables);
    yield* explicit.begin(batch);
    const memo = book === null ? null : memoOf(memos, book);
    memo?.begin(batch.tables);
    for (let record = 0; record < batch.recordCount; record++) {
      if (record % STEP === STEP - 1) yield;
      if (batch.records.goto(record).derived === 0) continue;
      if (this.#takeStated(batch, record, explicit)) continue;
      if (book !== null && memo !== null) this.#derive(batch, book, memo);
    }
    this.#report();
  }

  /** Once per batch: adding to a counter costs as much as pricing a call. */
  #report(): void {
    for (const outcome of OUTCOMES) {
      if (this.#outcomes[outcome] > 0) this.#priced.add(this.#outcomes[outcome], { priced: outcome });
      this.#outcomes[outcome] = 0;
    }
  }

  #takeStated(batch: Batch, record: number, explicit: ExplicitCosts): boolean {
    const costs = explicit.find(batch, record);
    const { derived } = batch;
    derived.goto(batch.records.goto(record).derived);
    if (costs === null) return false;
    const own = derived.byte(layout.DERIVED_USAGE_SCOPE) === USAGE_OWN || costsAlone(derived, costs);
    const stated = chooseStatedCost(costs, own);
    if (stated === null) return false;
    if (own) derived.setByte(layout.DERIVED_USAGE_SCOPE, USAGE_OWN);
    derived.setCost(layout.COST_INPUT, stated.input);
    derived.setCost(layout.COST_OUTPUT, stated.output);
    derived.setCost(layout.COST_TOTAL, stated.total);
    derived.setByte(layout.DERIVED_COST_SOURCE, COST_EXPLICIT);
    const audit = `explicit ${stated.attribute}`;
    setPriceId(batch, batch.tables.changing(audit) ?? batch.tables.scratch(audit));
    this.#outcomes.explicit++;
    return true;
  }

  #learnedOf(tables: Tables): Learned {
    const learned = this.#learned.get(tables) ?? { explicit: this.#explicitCosts(), memos: new WeakMap() };
    this.#learned.set(tables, learned);
    return learned;
  }

  /** How the cost of a record came about, by the functions that `process` uses. For `sluice explain`. */
  derivation(batch: Batch, record: number): CostDerivation {
    const unpriced = { record, stated: [], computed: [], price: null };
    const { derived } = batch.records.goto(record);
    if (derived === 0) return unpriced;
    const costs = this.#learnedOf(batch.tables).explicit.find(batch, record);
    batch.derived.goto(derived);
    const ownUsage = batch.derived.byte(layout.DERIVED_USAGE_SCOPE) === USAGE_OWN;
    const stated = costs === null ? [] : explainStatedCosts(costs, ownUsage);
    if (costs !== null && chooseStatedCost(costs, ownUsage) !== null) return { ...unpriced, stated };
    const usage = emptyUsage();
    if (this.#books === null || !readUsage(batch, usage)) return { ...unpriced, stated };
    const book = this.#books.of(batch.context.project.name);
    const model =
      findModel(batch, book)?.name ??
      batch.slotText(layout.SLOT_RESPONSE_MODEL) ??
      batch.slotText(layout.SLOT_REQUEST_MODEL);
    if (model === null) return { ...unpriced, stated, computed: ['No price: the record names no model.'] };
    const price = explainPrice(book, batch.slotText(layout.SLOT_PROVIDER), model, usage, this.#startMs(batch));
    return { record, stated, computed: describePrice(price).split('\n'), price };
  }

  /** A log record without a time of its own has the time at which it was observed. */
  #startMs({ records, signal }: Batch): number {
    const { startMs } = records;
    if (!Number.isNaN(startMs)) return startMs;
    const observedMs = signal === 'logs' ? records.endMs : Number.NaN;
    return Number.isNaN(observedMs) ? this.#host.now() : observedMs;
  }

  #explicitCosts(): ExplicitCosts {
    const own = this.#host.capabilities.find(ownDialects<Dialect>(this.#host.pipeline));
    return new ExplicitCosts([...(own ?? []), ...DIALECTS]);
  }

  #derive(batch: Batch, book: PriceBook, memo: ModelMemo): void {
    if (!readUsage(batch, this.#usage)) return;
    const startMs = this.#startMs(batch);
    const price = memo.find(batch) ?? memo.note(findModel(batch, book)?.priced ?? null);
    const { model } = price;
    const charge = this.#charge;
    const row = model?.charge(this.#usage, startMs, charge).row ?? null;
    if (model === null || row === null) {
      this.#outcomes.no++;
      return;
    }
    batch.derived.setCost(layout.COST_INPUT, charge.input);
    batch.derived.setCost(layout.COST_OUTPUT, charge.output);
    batch.derived.setCost(layout.COST_TOTAL, charge.total);
    batch.derived.setByte(layout.DERIVED_COST_SOURCE, COST_DERIVED);
    setPriceId(batch, price.audit(batch.tables, model, charge.audit));
    if (charge.total === null) this.#outcomes.partly++;
    else this.#outcomes.derived++;
  }
}

/** Whether a call without tokens, for example of an image, states what it cost. It counts by this cost. */
function costsAlone(derived: DerivedCursor, costs: StatedCosts): boolean {
  if (derived.byte(layout.DERIVED_USAGE_SCOPE) !== 0 || IS_CALL[derived.byte(layout.DERIVED_CATEGORY)] !== true)
    return false;
  const stated = chooseStatedCost(costs, true);
  return (stated?.total ?? stated?.input ?? stated?.output ?? 0n) > 0n;
}

/** A memo belongs to one book. */
function memoOf(memos: Learned['memos'], book: PriceBook): ModelMemo {
  const memo =
    memos.get(book) ?? new ModelMemo([layout.SLOT_PROVIDER, layout.SLOT_RESPONSE_MODEL, layout.SLOT_REQUEST_MODEL]);
  memos.set(book, memo);
  return memo;
}

/** The response model is billed; the request model is used when the response model has no price. */
function findModel(batch: Batch, book: PriceBook): FoundModel | null {
  const provider = batch.slotText(layout.SLOT_PROVIDER);
  const answered = batch.slotText(layout.SLOT_RESPONSE_MODEL);
  const found = answered === null ? null : book.find(provider, answered);
  if (found !== null && answered !== null) return { priced: found, name: answered };
  const asked = batch.slotText(layout.SLOT_REQUEST_MODEL);
  const priced = asked === null || asked === answered ? null : book.find(provider, asked);
  return priced === null || asked === null ? null : { priced, name: asked };
}

interface FoundModel {
  readonly priced: PricedModel;
  readonly name: string;
}

/** Prices batches, then reports how each cost came about. */
function deriving(pricing: Pricing, derivations: Derivations): Processor {
  return {
    start: () => pricing.start(),
    stop: () => pricing.stop(),
    admit: () => pricing.admit(),
    *process(batch) {
      yield* pricing.process(batch);
      if (batch.signal === 'metrics') return;
      for (let record = 0; record < batch.recordCount; record++) derivations.priced(pricing.derivation(batch, record));
    },
  };
}

/** Null: the tables have no room for the text, and the column stays null. */
function setPriceId({ derived }: Batch, text: TextRef | null): void {
  if (text !== null) derived.setText(layout.SLOT_PRICE_ID, text.offset, text.length, text.flags);
}

/** Each pipeline has its own instance; instances of one id share the books, which are slow to compile. */
function sharedBooks(host: Host, options: PricingOptions, faults: Counter): Promise<PriceBooks> {
  const capability: Capability<Promise<PriceBooks>> = { name: `price-books ${host.id}` };
  const known = host.capabilities.find(capability);
  if (known !== undefined) return known;
  const directory = host.capabilities.find(PRICE_DIRECTORY);
  const books = PriceBook.load(options).then((book) => new PriceBooks(book, { directory, host, faults }));
  host.capabilities.offer(capability, books);
  return books;
}

/** The prices of the first processor are shown. */
function offerPrices(books: PriceBooks, { capabilities, now }: Host): void {
  if (capabilities.find(PRICES) !== undefined) return;
  const prices: Prices = {
    find(project, provider, model) {
      const { card } = explainPrice(books.of(project), provider, model, emptyUsage(), now());
      if (card === null) return null;
      const { source, version, model: entry, effectiveFrom, evidence, rates } = card;
      return { source, version, entry, effectiveFrom, evidence, rates };
    },
  };
  capabilities.offer(PRICES, prices);
}

/** A capability for normalization, which reads token counts before this processor runs. */
function offerInclusiveRules({ inclusive_rules: rules = [] }: PricingOptions, { capabilities, id }: Host): void {
  if (rules.length === 0) return;
  const known = capabilities.find(CACHE_COUNTING);
  if (known !== undefined) known.set(id, new InclusiveRules(rules));
  else capabilities.offer(CACHE_COUNTING, new Map([[id, new InclusiveRules(rules)]]));
}

export const pricing = defineProcessor<PricingOptions>({
  type: 'pricing',
  summary: 'Prices model calls exactly, from their usage or from the cost the sender states.',
  stability: 'beta',
  schema: PRICING_OPTIONS_SCHEMA,
  example: 'overrides: []',
  check: priceFaults,
  requires: ['project', 'derived'],
  provides: ['cost'],
  create: (options, host) => {
    offerInclusiveRules(options, host);
    const pricing = new Pricing(options, host);
    const derivations = host.capabilities.find(DERIVATIONS);
    return derivations === undefined ? pricing : deriving(pricing, derivations);
  },
});
