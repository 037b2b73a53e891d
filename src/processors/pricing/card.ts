/**
 * A price card: an entry of a price list, with one model's prices over time, compiled so that a span finds its rates by
 * comparing numbers only. A card holds periods (dates), a period windows (hours of the week), and each of these a table
 * (base rates and tiers by prompt size).
 */
import type { ServiceTier } from '../../pdata/columns.ts';
import type { Decimal } from './decimal.ts';
import { type Rates, scaleRate } from './rates.ts';

/** Rates before compilation, from a catalogue or a configuration file. */
export interface TableDraft {
  readonly rates: Rates;
  /** Ascending; a tier holds for the whole request when its prompt has more tokens than `above`. */
  readonly tiers: readonly { readonly above: number; readonly rates: Rates }[];
}

export interface WindowDraft extends TableDraft {
  /** Bit 0 is Sunday. The day is the one on which the window opens. */
  readonly days: number;
  readonly opensMs: number;
  /** Before or at `opensMs` when the window wraps midnight. */
  readonly closesMs: number;
  readonly label: string;
}

export interface PeriodDraft extends TableDraft {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly windows: readonly WindowDraft[];
}

/** The source of a price: the first part of every audit text. */
export interface Origin {
  /** `stored`, `user`, `supplement` or `genai-prices`, or `file` for a local catalogue. */
  readonly source: string;
  readonly version: string;
}

export interface CardDraft {
  readonly origin: Origin;
  readonly provider: string;
  readonly model: string;
  /** Ascending and not overlapping. */
  readonly periods: readonly PeriodDraft[];
  /** The source of the prices; shown when a price is explained. */
  readonly evidence: string | null;
  /** The periods at other tiers of service. */
  readonly services?: ReadonlyMap<ServiceTier, readonly PeriodDraft[]>;
}

/** Rates with every fallback applied, so that the arithmetic has no conditions. */
export interface RateRow {
  /** Its index among the rows of the card, which numbers its audit text. */
  readonly ordinal: number;
  readonly tier: string;
  readonly window: string | null;
  readonly effectiveFromMs: number;
  readonly stated: Rates;
  readonly pricesInput: boolean;
  readonly pricesOutput: boolean;
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly cacheWrite1h: number;
  readonly inputAudio: number;
  readonly cacheAudioRead: number;
  readonly inputImage: number;
  readonly output: number;
  readonly reasoning: number;
  readonly outputAudio: number;
  readonly outputImage: number;
}

export interface RateTable {
  readonly base: RateRow;
  readonly tiers: readonly { readonly above: number; readonly row: RateRow }[];
}

interface Window {
  readonly days: number;
  readonly opensMs: number;
  readonly closesMs: number;
  readonly table: RateTable;
}

interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly table: RateTable;
  readonly windows: readonly Window[];
}

const DAY_MS = 86_400_000;
/** 1 January 1970 was a Thursday; bit 0 of a day mask is Sunday. */
const EPOCH_WEEKDAY = 4;
export const EVERY_DAY = 0b1111111;

export class Card {
  readonly draft: CardDraft;
  /** Every row of the card, by ordinal. */
  readonly rows: readonly RateRow[];
  readonly #periods: readonly Period[];
  readonly #services: ReadonlyMap<ServiceTier, Card>;

  constructor(draft: CardDraft) {
    const rows: RateRow[] = [];
    this.draft = draft;
    this.#periods = draft.periods.map((period) => compilePeriod(period, rows));
    this.rows = rows;
    this.#services = new Map(
      [...(draft.services ?? [])].map(([tier, periods]) => {
        const { services: _, ...alike } = draft;
        return [tier, new Card({ ...alike, periods })] as const;
      }),
    );
  }

  /** The card for a tier of service; this one where it has none for it. */
  of(tier: ServiceTier | null): Card {
    return tier === null ? this : (this.#services.get(tier) ?? this);
  }

  /** Whether it has rates for every moment. */
  get isUnbroken(): boolean {
    const { periods } = this.draft;
    return (
      periods.every(({ fromMs }, index) => fromMs === (periods[index - 1]?.untilMs ?? Number.NEGATIVE_INFINITY)) &&
      periods.at(-1)?.untilMs === Number.POSITIVE_INFINITY
    );
  }

  /** The rates in force at a moment; null where no period covers it. */
  tableAt(timeMs: number): RateTable | null {
    for (let index = this.#periods.length - 1; index >= 0; index--) {
      const period = this.#periods[index] as Period;
      if (timeMs >= period.fromMs) return timeMs < period.untilMs ? tableWithin(period, timeMs) : null;
    }
    return null;
  }
}

/** The row for a prompt of so many tokens. */
export function rowFor(table: RateTable, promptTokens: number): RateRow {
  for (let index = table.tiers.length - 1; index >= 0; index--) {
    const tier = table.tiers[index] as { above: number; row: RateRow };
    if (promptTokens > tier.above) return tier.row;
  }
  return table.base;
}

function tableWithin(period: Period, timeMs: number): RateTable {
  if (period.windows.length === 0) return period.table;
  const day = Math.floor(timeMs / DAY_MS);
  const ofDay = timeMs - day * DAY_MS;
  const today = 1 << ((((day + EPOCH_WEEKDAY) % 7) + 7) % 7);
  const yesterday = 1 << ((((day + EPOCH_WEEKDAY - 1) % 7) + 7) % 7);
  for (const window of period.windows) {
    const wraps = window.closesMs <= window.opensMs;
    const openedToday = (window.days & today) !== 0 && ofDay >= window.opensMs && (wraps || ofDay < window.closesMs);
    const openedYesterday = wraps && (window.days & yesterday) !== 0 && ofDay < window.closesMs;
    if (openedToday || openedYesterday) return window.table;
  }
  return period.table;
}

function compilePeriod(draft: PeriodDraft, rows: RateRow[]): Period {
  return {
    fromMs: draft.fromMs,
    untilMs: draft.untilMs,
    table: compileTable(draft, draft.fromMs, null, rows),
    windows: draft.windows.map((window) => ({
      days: window.days,
      opensMs: window.opensMs,
      closesMs: window.closesMs,
      table: compileTable(window, draft.fromMs, window.label, rows),
    })),
  };
}

function compileTable(draft: TableDraft, fromMs: number, window: string | null, rows: RateRow[]): RateTable {
  const add = (rates: Rates, tier: string): RateRow => {
    const row = compileRow(rates, { ordinal: rows.length, tier, window, effectiveFromMs: fromMs });
    rows.push(row);
    return row;
  };
  const base = add(draft.rates, 'base');
  return {
    base,
    tiers: draft.tiers.map(({ above, rates }) => ({ above, row: add({ ...draft.rates, ...rates }, `>${above}`) })),
  };
}

/**
 * Fallbacks: cached tokens to input, one-hour writes to writes, media to text, reasoning to output. A missing rate is
 * never zero.
 */
function compileRow(rates: Rates, place: Pick<RateRow, 'ordinal' | 'tier' | 'window' | 'effectiveFromMs'>): RateRow {
  const input = rates.input ?? 0;
  const output = rates.output ?? 0;
  const cacheRead = rates.cache_read ?? input;
  const cacheWrite = rates.cache_write ?? input;
  // One literal, no spread: every row of every card has the same shape, which the arithmetic relies on for speed.
  return {
    ordinal: place.ordinal,
    tier: place.tier,
    window: place.window,
    effectiveFromMs: place.effectiveFromMs,
    stated: rates,
    pricesInput: rates.input !== undefined,
    pricesOutput: rates.output !== undefined,
    input,
    cacheRead,
    cacheWrite,
    cacheWrite1h: rates.cache_write_1h ?? cacheWrite,
    inputAudio: rates.input_audio ?? input,
    cacheAudioRead: rates.cache_audio_read ?? cacheRead,
    inputImage: rates.input_image ?? input,
    output,
    reasoning: rates.reasoning ?? output,
    outputAudio: rates.output_audio ?? output,
    outputImage: rates.output_image ?? output,
  };
}

/** A date if the moment is midnight UTC, else date and time. */
export function formatMoment(timeMs: number): string {
  return new Date(timeMs).toISOString().replace('.000Z', 'Z').replace('T00:00:00Z', '');
}

/**
 * The prices of a period times a factor: a borrowed price with a discount, or a tier of service. Throws a `RangeError`
 * when a rate gets too large.
 */
export function scalePeriod(period: PeriodDraft, factor: Decimal): PeriodDraft {
  const rates = (stated: Rates): Rates =>
    Object.fromEntries(
      Object.entries(stated).map(([key, rate]) => {
        const scaled = scaleRate(rate, factor);
        if (scaled === null) throw new RangeError(key);
        return [key, scaled];
      }),
    );
  const table = <T extends TableDraft>(draft: T): T => ({
    ...draft,
    rates: rates(draft.rates),
    tiers: draft.tiers.map((tier) => ({ above: tier.above, rates: rates(tier.rates) })),
  });
  return { ...table(period), windows: period.windows.map(table) };
}
