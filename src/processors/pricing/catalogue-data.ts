/**
 * Converts the published price data of genai-prices to card drafts, with corrections: the long-prompt threshold of
 * OpenAI, hours of the day that start at a date, rounding errors of floats, and units that are not tokens.
 */
import { EVERY_DAY, type Origin, type CardDraft, type PeriodDraft, type TableDraft, type WindowDraft } from './card.ts';
import { type RateKey, type Rates, roundRate } from './rates.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

/** The upstream format, as far as it is read. */
export interface RawProvider {
  readonly id: string;
  readonly provider_match?: RawMatch | null;
  readonly model_match?: RawMatch | null;
  readonly fallback_model_providers?: readonly string[] | null;
  readonly models: readonly RawModel[];
}

export interface RawModel {
  readonly id: string;
  readonly match: RawMatch;
  readonly prices: RawPrices | readonly RawConditional[];
}

export type RawMatch = { readonly [operator: string]: string | readonly RawMatch[] };
export type RawPrices = { readonly [key: string]: number | RawTiers | null | undefined };
interface RawTiers {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}
interface RawConditional {
  readonly constraint?: {
    readonly start_date?: string;
    readonly start_time?: string;
    readonly end_time?: string;
  } | null;
  readonly prices: RawPrices;
}

const KEY_OF: Readonly<Record<string, RateKey>> = {
  input_mtok: 'input',
  cache_read_mtok: 'cache_read',
  cache_write_mtok: 'cache_write',
  cache_write_1h_mtok: 'cache_write_1h',
  input_audio_mtok: 'input_audio',
  cache_audio_read_mtok: 'cache_audio_read',
  input_image_mtok: 'input_image',
  output_mtok: 'output',
  output_reasoning_mtok: 'reasoning',
  output_audio_mtok: 'output_audio',
  output_image_mtok: 'output_image',
};

/** OpenAI charges the long-prompt rate above 272,000 tokens; the data says "above 271,999" for most of its models. */
const OPENAI_THRESHOLD = { published: 271_999, meant: 272_000 };

/** Clouds whose Claude entries lack the price of one-hour cache writes. */
const RESOLD_CLAUDE = new Set(['aws', 'google']);

/** The card of a model; null when it has no price per token (free, per hour, per page). */
export function draftCard(provider: string, model: RawModel, origin: Origin): CardDraft | null {
  const conditionals = isList(model.prices) ? model.prices : [{ prices: model.prices }];
  const inputOnly = model.id.includes('embed');
  const resold = RESOLD_CLAUDE.has(provider) && model.id.includes('claude');
  const periods = draftPeriods(conditionals, inputOnly)
    .map((period) => (resold ? withHourWrites(period) : period))
    .filter((period) => period.rates.input !== undefined || period.rates.output !== undefined);
  if (periods.length === 0) return null;
  return { origin, provider, model: model.id, periods, evidence: null };
}

/** Anthropic's one-hour writes cost twice the input rate, on its own API and on the clouds that resell it. */
function withHourWrites(period: PeriodDraft): PeriodDraft {
  const add = (rates: Rates): Rates =>
    rates.cache_write === undefined || rates.cache_write_1h !== undefined
      ? rates
      : { ...rates, cache_write_1h: 2 * (rates.input ?? 0) };
  return {
    ...period,
    rates: add(period.rates),
    tiers: period.tiers.map((tier) => ({ above: tier.above, rates: add(tier.rates) })),
  };
}

function isList(prices: RawModel['prices']): prices is readonly RawConditional[] {
  return Array.isArray(prices);
}

/**
 * Upstream reads its list from the end, and an entry with hours has no date. Here such an entry belongs to the dated
 * entry before it, so that a new peak price does not apply before the price change.
 */
function draftPeriods(conditionals: readonly RawConditional[], inputOnly: boolean): PeriodDraft[] {
  const periods: { fromMs: number; table: TableDraft; windows: WindowDraft[] }[] = [];
  for (const { constraint, prices } of conditionals) {
    const table = draftTable(prices, inputOnly);
    const last = periods.at(-1);
    if (constraint?.start_time !== undefined && constraint.end_time !== undefined && last !== undefined) {
      last.windows.unshift(draftWindow(constraint.start_time, constraint.end_time, table));
    } else {
      const fromMs =
        constraint?.start_date === undefined
          ? Number.NEGATIVE_INFINITY
          : Date.parse(`${constraint.start_date}T00:00:00Z`);
      periods.push({ fromMs, table, windows: [] });
    }
  }
  periods.sort((a, b) => (a.fromMs === b.fromMs ? 0 : a.fromMs - b.fromMs));
  return periods.map(({ fromMs, table, windows }, index) => ({
    ...table,
    fromMs,
    untilMs: periods[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY,
    windows,
  }));
}

function draftWindow(start: string, end: string, table: TableDraft): WindowDraft {
  return {
    ...table,
    days: EVERY_DAY,
    opensMs: timeOfDay(start),
    closesMs: timeOfDay(end),
    label: `${start.slice(0, 5)}-${end.slice(0, 5)}`,
  };
}

function timeOfDay(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace('Z', '').split(':').map(Number);
  return (((hours * 60 + minutes) * 60 + seconds) * 1000) % DAY_MS;
}

/** Each price may have tiers of its own; the table has one row for each of their thresholds. */
function draftTable(prices: RawPrices, inputOnly: boolean): TableDraft {
  const base: { [key in RateKey]?: number } = {};
  const thresholds = new Map<number, { [key in RateKey]?: number }>();
  for (const [rawKey, price] of Object.entries(prices)) {
    const key = KEY_OF[rawKey];
    // Embeddings have no output; with a price for it their total would always be unknown.
    if (key === undefined || price === null || price === undefined || (inputOnly && key === 'output')) continue;
    const rate = roundRate(typeof price === 'number' ? price : price.base);
    if (rate === null) continue;
    base[key] = rate;
    if (typeof price !== 'number') for (const { start } of price.tiers) thresholds.set(threshold(start), {});
  }
  const tiers = [...thresholds.keys()]
    .sort((a, b) => a - b)
    .map((above) => ({ above, rates: ratesAbove(above, prices, base) }));
  return { rates: base, tiers };
}

function ratesAbove(above: number, prices: RawPrices, base: Rates): Rates {
  const rates: { [key in RateKey]?: number } = { ...base };
  for (const [rawKey, price] of Object.entries(prices)) {
    const key = KEY_OF[rawKey];
    if (key === undefined || base[key] === undefined || typeof price !== 'object' || price === null) continue;
    const applying = price.tiers.filter(({ start }) => threshold(start) <= above).sort((a, b) => a.start - b.start);
    const rate = roundRate(applying.at(-1)?.price ?? price.base);
    if (rate !== null) rates[key] = rate;
  }
  return rates;
}

function threshold(start: number): number {
  return start === OPENAI_THRESHOLD.published ? OPENAI_THRESHOLD.meant : start;
}
