/**
 * A model with its price card: computes costs from usage and a start time.
 * The arithmetic is exact: plain numbers while every product stays below 2^53, BigInt beyond.
 */
import { SERVICE_TIERS, type ServiceTier } from '../../pdata/columns.ts';
import { MONEY_LIMIT, type Money } from '../../pdata/money.ts';
import { type Card, formatMoment, type RateRow, rowFor } from './card.ts';
import { Buckets, COST_FLAGS, type Usage } from './usage.ts';

/**
 * How the card of a name was found: `exact`, `rule` (prefix, pattern or a respelled name), `fallback` (another vendor's
 * card), `use:<id>` (borrowed).
 */
export type MatchKind = 'exact' | 'rule' | 'fallback' | `use:${string}`;

export interface Cost {
  readonly inputCost: Money | null;
  readonly outputCost: Money | null;
  /** The exact sum, rounded once: may differ from the two rounded parts by one unit of the last digit. */
  readonly totalCost: Money | null;
  /** The text of `price_id`: which price was used; null where none was in force. */
  readonly audit: string | null;
  /** Bits of `COST_FLAGS`. */
  readonly flags: number;
}

/** Whole 1e-8 USD, as a plain number (no allocation) when that is exact. Null: unknown. */
export type Amount = number | Money | null;

/** A cost in the form of the hot path. */
export interface Charge {
  input: Amount;
  output: Amount;
  total: Amount;
  /** The rates that were used; null where no price was in force. */
  row: RateRow | null;
  /** The number of its audit text: see `auditAt`. */
  audit: number;
  flags: number;
}

/** 1e-15 USD in one unit of money (1e-8 USD). */
const UNITS_PER_MONEY = 10_000_000;
const HALF_UNIT = UNITS_PER_MONEY / 2;
/** Below this, sums of products are exact in doubles and rounding up cannot leave the exact range. */
const EXACT_LIMIT = Number.MAX_SAFE_INTEGER - UNITS_PER_MONEY;

/** Assumptions that the audit text contains. The rates of a service tier follow from the card. */
const { audio_at_text_rate: AUDIO, image_at_text_rate: IMAGE } = COST_FLAGS;
const NOTED = AUDIO | IMAGE;
const NOTE_BITS: readonly number[] = [0, AUDIO, IMAGE, NOTED];
/** The standard tier and the others. */
const SERVICES = SERVICE_TIERS.length + 1;

export function emptyCharge(): Charge {
  return { input: null, output: null, total: null, row: null, audit: 0, flags: 0 };
}

export class PricedModel {
  readonly card: Card;
  readonly match: MatchKind;
  /** The price at the moments for which the card has none. */
  readonly #otherwise: PricedModel | null;
  /** The numbers of the audit texts of the card; those of the other price follow. */
  readonly #places: number;
  readonly #buckets = new Buckets();
  readonly #charge = emptyCharge();

  constructor(card: Card, match: MatchKind, otherwise: PricedModel | null = null) {
    this.card = card;
    this.match = match;
    this.#otherwise = otherwise;
    this.#places = card.rows.length * NOTE_BITS.length * SERVICES;
  }

  /** The price in force at a moment; null where there is none. */
  at(startMs: number): PricedModel | null {
    return this.card.tableAt(startMs) === null ? (this.#otherwise?.at(startMs) ?? null) : this;
  }

  /**
   * The cost of a call that started at `startMs` (milliseconds of the Unix epoch; use the time of receipt where a span
   * has no start). Each side is null when its count is unknown or the card does not price it; the total is null unless
   * every side the card prices is known.
   */
  cost(usage: Usage, startMs: number): Cost {
    const { input, output, total, row, audit, flags } = this.charge(usage, startMs, this.#charge);
    return {
      inputCost: moneyOf(input),
      outputCost: moneyOf(output),
      totalCost: moneyOf(total),
      audit: row === null ? null : this.auditAt(audit),
      flags,
    };
  }

  /** As `cost`, in the form of the hot path. */
  charge(usage: Usage, startMs: number, into: Charge): Charge {
    into.input = into.output = into.total = into.row = null;
    into.flags = 0;
    const tier = usage.serviceTier ?? null;
    const card = this.card.of(tier);
    const table = card.tableAt(startMs);
    if (table === null) return this.#chargeOtherwise(usage, startMs, into);
    const buckets = this.#buckets;
    buckets.split(usage);
    const row = buckets.inputKnown ? rowFor(table, buckets.prompt) : table.base;
    const tierKnown = buckets.inputKnown || table.tiers.length === 0;
    price(buckets, row, tierKnown, into);
    if (into.input === null && into.output === null) return into;
    into.row = row;
    if (tier !== null && card === this.card) into.flags |= COST_FLAGS.service_at_standard_rate;
    into.audit = placeOf(row, into.flags, tier);
    return into;
  }

  #chargeOtherwise(usage: Usage, startMs: number, into: Charge): Charge {
    this.#otherwise?.charge(usage, startMs, into);
    into.audit += this.#places;
    return into;
  }

  /** The audit text of one of the rows, where nothing was charged. */
  auditOf(row: RateRow): string {
    return this.auditAt(placeOf(row, 0, null));
  }

  /** The audit text of a charge, by its number. */
  auditAt(place: number): string {
    if (place >= this.#places && this.#otherwise !== null) return this.#otherwise.auditAt(place - this.#places);
    const tier = SERVICE_TIERS[(place % SERVICES) - 1] ?? null;
    const notes = NOTE_BITS[Math.floor(place / SERVICES) % NOTE_BITS.length] ?? 0;
    const card = this.card.of(tier);
    const row = card.rows[Math.floor(place / SERVICES / NOTE_BITS.length)] as RateRow;
    return auditText(card, row, this.match) + noteText(notes, tier, card === this.card);
  }
}

/** The number of an audit text: rows have the same ordinals at every tier of service. */
function placeOf(row: RateRow, flags: number, tier: ServiceTier | null): number {
  const service = tier === null ? 0 : SERVICE_TIERS.indexOf(tier) + 1;
  return (row.ordinal * NOTE_BITS.length + NOTE_BITS.indexOf(flags & NOTED)) * SERVICES + service;
}

function moneyOf(amount: Amount): Money | null {
  return typeof amount === 'number' ? BigInt(amount) : amount;
}

function price(buckets: Buckets, row: RateRow, tierKnown: boolean, into: Charge): void {
  const input = row.pricesInput && buckets.inputKnown;
  const output = row.pricesOutput && buckets.outputKnown && tierKnown;
  const complete = (input || !row.pricesInput) && (output || !row.pricesOutput);
  const inputUnits = input ? inputSum(buckets, row) : 0;
  const outputUnits = output ? outputSum(buckets, row) : 0;
  if (inputUnits + outputUnits < EXACT_LIMIT) {
    if (input) into.input = roundNumber(inputUnits);
    if (output) into.output = roundNumber(outputUnits);
    if (complete) into.total = roundNumber(inputUnits + outputUnits);
  } else {
    priceExactly(buckets, row, input, output, complete, into);
  }
  into.flags |= flagsOf(buckets, row, input, output, tierKnown);
}

/** Prices by BigInt: prompts of millions of tokens, or high rates. Only here a cost can be too large to store. */
function priceExactly(
  buckets: Buckets,
  row: RateRow,
  input: boolean,
  output: boolean,
  complete: boolean,
  into: Charge,
): void {
  const inputUnits = input ? exactSum(inputPairs(buckets, row)) : 0n;
  const outputUnits = output ? exactSum(outputPairs(buckets, row)) : 0n;
  const storable = (units: bigint): Money | null => {
    const money = (units + BigInt(HALF_UNIT)) / BigInt(UNITS_PER_MONEY);
    if (money < MONEY_LIMIT) return money;
    into.flags |= COST_FLAGS.over_limit;
    return null;
  };
  if (input) into.input = storable(inputUnits);
  if (output) into.output = storable(outputUnits);
  if (complete) into.total = storable(inputUnits + outputUnits);
}

function inputSum(b: Buckets, row: RateRow): number {
  let sum = b.input * row.input + b.cacheRead * row.cacheRead + b.cacheWrite * row.cacheWrite;
  if (b.cacheWrite1h !== 0) sum += b.cacheWrite1h * row.cacheWrite1h;
  if (b.inputAudio !== 0) sum += b.inputAudio * row.inputAudio;
  if (b.cacheAudioRead !== 0) sum += b.cacheAudioRead * row.cacheAudioRead;
  if (b.inputImage !== 0) sum += b.inputImage * row.inputImage;
  return sum;
}

function outputSum(b: Buckets, row: RateRow): number {
  let sum = b.output * row.output + b.reasoning * row.reasoning;
  if (b.outputAudio !== 0) sum += b.outputAudio * row.outputAudio;
  if (b.outputImage !== 0) sum += b.outputImage * row.outputImage;
  return sum;
}

/** Tokens and rate of each bucket of the input side. */
export function inputPairs(b: Buckets, row: RateRow): [tokens: number, rate: number][] {
  return [
    [b.input, row.input],
    [b.cacheRead, row.cacheRead],
    [b.cacheWrite, row.cacheWrite],
    [b.cacheWrite1h, row.cacheWrite1h],
    [b.inputAudio, row.inputAudio],
    [b.cacheAudioRead, row.cacheAudioRead],
    [b.inputImage, row.inputImage],
  ];
}

/** Tokens and rate of each bucket of the output side. */
export function outputPairs(b: Buckets, row: RateRow): [tokens: number, rate: number][] {
  return [
    [b.output, row.output],
    [b.reasoning, row.reasoning],
    [b.outputAudio, row.outputAudio],
    [b.outputImage, row.outputImage],
  ];
}

function exactSum(pairs: readonly [number, number][]): bigint {
  return pairs.reduce((sum, [tokens, rate]) => sum + BigInt(tokens) * BigInt(rate), 0n);
}

/**
 * Half away from zero for a non-negative integer below `EXACT_LIMIT`. The division is safe: its result is below 2^30,
 * where doubles lie 2^-23 apart at most, so a quotient that misses the next integer by 10^-7 is never rounded up to it.
 */
function roundNumber(units: number): number {
  return Math.floor((units + HALF_UNIT) / UNITS_PER_MONEY);
}

function flagsOf(b: Buckets, row: RateRow, input: boolean, output: boolean, tierKnown: boolean): number {
  let flags = 0;
  if (input) {
    flags |= b.flags & COST_FLAGS.cache_outside_input;
    if (b.cacheWrite1h !== 0 && row.stated.cache_write_1h === undefined) flags |= COST_FLAGS.no_1h_rate;
    if (b.inputAudio !== 0 && row.stated.input_audio === undefined) flags |= COST_FLAGS.audio_at_text_rate;
    if (b.cacheAudioRead !== 0 && row.stated.cache_audio_read === undefined) flags |= COST_FLAGS.audio_at_text_rate;
    if (b.inputImage !== 0 && row.stated.input_image === undefined) flags |= COST_FLAGS.image_at_text_rate;
  }
  if (output) {
    flags |= b.flags & COST_FLAGS.parts_outside_output;
    if (b.outputAudio !== 0 && row.stated.output_audio === undefined) flags |= COST_FLAGS.audio_at_text_rate;
    if (b.outputImage !== 0 && row.stated.output_image === undefined) flags |= COST_FLAGS.image_at_text_rate;
  }
  if (!tierKnown && row.pricesOutput && b.outputKnown) flags |= COST_FLAGS.tier_unknown;
  return flags;
}

/** The assumptions and the tier of service: ` audio=text-rate service=batch`. */
function noteText(notes: number, tier: ServiceTier | null, atStandardRate: boolean): string {
  const audio = (notes & AUDIO) === 0 ? '' : ' audio=text-rate';
  const image = (notes & IMAGE) === 0 ? '' : ' image=text-rate';
  if (tier === null) return audio + image;
  return `${audio}${image} service=${tier}${atStandardRate ? ':standard-rate' : ''}`;
}

/**
 * `genai-prices@0.1.8+91a9f7d8b0186e09 anthropic/claude-opus-4-6 from=2026-03-13 tier=base match=exact`: enough to find
 * the rates again.
 */
function auditText(card: Card, row: RateRow, match: MatchKind): string {
  const { origin, provider, model } = card.draft;
  const from = Number.isFinite(row.effectiveFromMs) ? ` from=${formatMoment(row.effectiveFromMs)}` : '';
  const window = row.window === null ? '' : ` window=${row.window}`;
  return `${origin.source}@${origin.version} ${provider}/${model}${from}${window} tier=${row.tier} match=${match}`;
}
