/**
 * Compiles price entries (a user's overrides, the shipped supplement) into cards, and reports every mistake with its
 * path.
 */
import { parseMoment } from '../../component/moment.ts';
import {
  Card,
  type CardDraft,
  EVERY_DAY,
  formatMoment,
  type Origin,
  type PeriodDraft,
  type TableDraft,
  type WindowDraft,
  scalePeriod,
} from './card.ts';
import type { ServiceTier } from '../../pdata/columns.ts';
import type { EntryMatch } from './entry-index.ts';
import { expressionFault, PATTERN_LENGTH } from './name-pattern.ts';
import {
  type EntryPrice,
  type EntryRates,
  type EntryTier,
  type EntryWindow,
  type ModelMatch,
  type PriceEntry,
  WEEKDAYS,
} from './options.ts';
import type { MatchKind } from './priced-model.ts';
import { parseRate, RATE_KEYS, type RateKey, type Rates, readDecimal } from './rates.ts';
import { foldProvider } from './route.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

export interface PricingProblem {
  /** Where in the options, as `overrides[2].prices[0].rates.input`. */
  readonly path: string;
  readonly message: string;
}

/** Has every problem at once. */
export class PricingOptionsError extends Error {
  readonly problems: readonly PricingProblem[];

  constructor(problems: readonly PricingProblem[]) {
    super(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    this.name = 'PricingOptionsError';
    this.problems = problems;
  }
}

export interface CompiledEntry {
  readonly id: string;
  /** Null: any provider. */
  readonly providers: readonly string[] | null;
  readonly matches: EntryMatch;
  readonly card: Card;
  readonly match: MatchKind;
}

export interface EntryContext {
  /** The path of the list, as `overrides`. */
  readonly path: string;
  readonly origin: Origin;
  /** The card of a provider and model in the price lists of later layers. */
  readonly borrow: (provider: string, model: string) => Card | null;
}

const MOMENT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2}))?$/;
const HOURS = /^(\d{2}):(\d{2})-(\d{2}):(\d{2})$/;

/** The compiled list; mistakes go into `problems`, and an entry with one is left out. */
export function compileEntries(
  entries: readonly PriceEntry[],
  context: EntryContext,
  problems: PricingProblem[],
): CompiledEntry[] {
  const ids = new Set<string>();
  return entries.flatMap((entry, index) => {
    const reader = new EntryReader(entry, `${context.path}[${index}]`, context, problems);
    if (ids.has(entry.id)) reader.problem('.id', `${JSON.stringify(entry.id)} is used twice`);
    ids.add(entry.id);
    const compiled = reader.read();
    return compiled === null ? [] : [compiled];
  });
}

class EntryReader {
  readonly #entry: PriceEntry;
  readonly #path: string;
  readonly #context: EntryContext;
  readonly #problems: PricingProblem[];

  constructor(entry: PriceEntry, path: string, context: EntryContext, problems: PricingProblem[]) {
    this.#entry = entry;
    this.#path = path;
    this.#context = context;
    this.#problems = problems;
  }

  problem(at: string, message: string): null {
    this.#problems.push({ path: `${this.#path}${at}`, message });
    return null;
  }

  read(): CompiledEntry | null {
    const before = this.#problems.length;
    const { id, match, prices, use, multiplier } = this.#entry;
    if (prices !== undefined && use !== undefined) this.problem('', 'has both prices and use; keep one of them');
    if (prices === undefined && use === undefined) this.problem('', 'needs prices or use');
    if (multiplier !== undefined && use === undefined) this.problem('.multiplier', 'only with use');
    const matches = this.#names(match.model);
    const standard = use === undefined ? this.#own(prices ?? []) : this.#borrowed(use);
    const draft = standard === null ? null : this.#withServices(standard);
    if (this.#problems.length > before || matches === null || draft === null) return null;
    const literal = typeof match.model === 'string' || Array.isArray(match.model);
    const factor = multiplier === undefined ? '' : `*${multiplier}`;
    return {
      id,
      providers: match.provider === undefined ? null : [match.provider].flat().map(foldProvider),
      matches,
      card: new Card(draft),
      match: use === undefined ? (literal ? 'exact' : 'rule') : `use:${id}${factor}`,
    };
  }

  #names(model: ModelMatch): EntryMatch | null {
    if (typeof model === 'string') return { names: [model.trim().toLowerCase()] };
    if (isNameList(model)) return { names: model.map((name) => name.trim().toLowerCase()) };
    // A user's prefix has no guard: any text may follow it.
    if ('prefix' in model) return { prefix: model.prefix.trim().toLowerCase() };
    if (model.regex.length > PATTERN_LENGTH)
      return this.problem('.match.model.regex', `at most ${PATTERN_LENGTH} characters`);
    const fault = expressionFault(model.regex);
    return fault === null
      ? { expression: model.regex }
      : this.problem('.match.model.regex', `not an RE2 expression: ${fault}`);
  }

  #borrowed(use: { provider: string; model: string }): CardDraft | null {
    const lent = this.#context.borrow(use.provider, use.model);
    if (lent === null) return this.problem('.use', `no price list has ${use.provider}/${use.model}`);
    const { multiplier } = this.#entry;
    const factor = readDecimal(multiplier ?? 1);
    if (factor === null) return this.problem('.multiplier', 'must be a decimal number, not negative');
    try {
      return {
        ...lent.draft,
        evidence: this.#evidence() ?? lent.draft.evidence,
        periods: lent.draft.periods.map((period) => scalePeriod(period, factor)),
        services: new Map(
          [...(lent.draft.services ?? [])].map(
            ([tier, periods]) => [tier, periods.map((period) => scalePeriod(period, factor))] as const,
          ),
        ),
      };
    } catch (error) {
      if (error instanceof RangeError) return this.problem('.multiplier', 'makes a rate too large');
      throw error;
    }
  }

  /** A borrowed card keeps its tiers, unless the entry has some. */
  #withServices(draft: CardDraft): CardDraft | null {
    const tiers = Object.entries(this.#entry.service_tiers ?? {}) as [ServiceTier, { multiplier: string | number }][];
    if (tiers.length === 0) return draft;
    const services = tiers.map(([tier, { multiplier }]) => {
      const at = `.service_tiers.${tier}.multiplier`;
      const factor = readDecimal(multiplier);
      if (factor === null) return this.problem(at, 'must be a decimal number, not negative');
      try {
        return [tier, draft.periods.map((period) => scalePeriod(period, factor))] as const;
      } catch (error) {
        if (error instanceof RangeError) return this.problem(at, 'makes a rate too large');
        throw error;
      }
    });
    const known = services.filter((service) => service !== null);
    return known.length < services.length ? null : { ...draft, services: new Map(known) };
  }

  #own(prices: readonly EntryPrice[]): CardDraft | null {
    const periods = prices.map((price, index) => this.#period(price, `.prices[${index}]`));
    const { match, id } = this.#entry;
    const known = periods.filter((period) => period !== null);
    if (known.length < prices.length || known.length === 0) return null;
    const provider = typeof match.provider === 'string' ? match.provider : '*';
    return {
      origin: this.#context.origin,
      provider,
      model: id,
      periods: this.#inOrder(known),
      evidence: this.#evidence(),
    };
  }

  #evidence(): string | null {
    const { source, checked } = this.#entry;
    if (source === undefined) return null;
    return checked === undefined ? source : `${source} (read ${checked})`;
  }

  /** Sorted by date; a period without `until` ends where the next begins. */
  #inOrder(periods: readonly (PeriodDraft & { at: string })[]): PeriodDraft[] {
    const sorted = [...periods].sort((a, b) => (a.fromMs < b.fromMs ? -1 : a.fromMs > b.fromMs ? 1 : 0));
    return sorted.map((period, index) => {
      const next = sorted[index + 1];
      const open = period.untilMs === Number.POSITIVE_INFINITY;
      if (next !== undefined && (next.fromMs === period.fromMs || (!open && period.untilMs > next.fromMs))) {
        this.problem(
          next.at,
          `overlaps the period ${Number.isFinite(period.fromMs) ? `from ${formatMoment(period.fromMs)}` : 'without from'}`,
        );
      }
      return open && next !== undefined ? { ...period, untilMs: next.fromMs } : period;
    });
  }

  #period(price: EntryPrice, at: string): (PeriodDraft & { at: string }) | null {
    const fromMs = price.from === undefined ? Number.NEGATIVE_INFINITY : this.#moment(price.from, `${at}.from`);
    const untilMs = price.until === undefined ? Number.POSITIVE_INFINITY : this.#moment(price.until, `${at}.until`);
    const rates = this.#rates(price.rates, `${at}.rates`);
    if (fromMs === null || untilMs === null || rates === null) return null;
    if (fromMs >= untilMs) return this.problem(`${at}.until`, 'must be after from');
    if (rates.input === undefined && rates.output === undefined)
      return this.problem(`${at}.rates`, 'needs input or output');
    const tiers = this.#tiers(price.tiers ?? [], `${at}.tiers`);
    const windows = (price.windows ?? []).map((window, index) =>
      this.#window(window, price, rates, `${at}.windows[${index}]`),
    );
    if (tiers === null || windows.includes(null)) return null;
    return { at, fromMs, untilMs, rates, tiers, windows: windows.filter((window) => window !== null) };
  }

  #window(window: EntryWindow, price: EntryPrice, base: Rates, at: string): WindowDraft | null {
    const hours = HOURS.exec(window.utc)?.slice(1).map(Number);
    if (hours === undefined) return this.problem(`${at}.utc`, 'must look like 01:00-04:00');
    const [openHour = 0, openMinute = 0, closeHour = 0, closeMinute = 0] = hours;
    const opensMs = (openHour * 60 + openMinute) * 60_000;
    const closesMs = (closeHour * 60 + closeMinute) * 60_000;
    if (opensMs >= DAY_MS || closesMs > DAY_MS || openMinute > 59 || closeMinute > 59)
      return this.problem(`${at}.utc`, 'is no time of day');
    if (opensMs === closesMs) return this.problem(`${at}.utc`, 'opens and closes at the same time');
    if ((price.tiers?.length ?? 0) > 0 && window.tiers === undefined) {
      return this.problem(at, 'needs tiers of its own (an empty list for none), because the period has tiers');
    }
    const rates = this.#rates(window.rates, `${at}.rates`);
    const tiers = this.#tiers(window.tiers ?? [], `${at}.tiers`);
    if (rates === null || tiers === null) return null;
    return {
      rates: { ...base, ...rates },
      tiers,
      days: dayMask(window.days),
      opensMs,
      closesMs,
      label: `${window.days?.join('+') ?? 'daily'}/${window.utc}`,
    };
  }

  #tiers(tiers: readonly EntryTier[], at: string): TableDraft['tiers'] | null {
    const compiled = tiers.map((tier, index) => ({
      above: tier.above_input_tokens,
      rates: this.#rates(tier.rates, `${at}[${index}].rates`),
    }));
    compiled.sort((a, b) => a.above - b.above);
    const twice = compiled.find((tier, index) => tier.above === compiled[index + 1]?.above);
    if (twice !== undefined) return this.problem(at, `${twice.above} appears twice`);
    const known = compiled.flatMap(({ above, rates }) => (rates === null ? [] : [{ above, rates }]));
    return known.length === compiled.length ? known : null;
  }

  #rates(rates: EntryRates, at: string): Rates | null {
    const compiled: { [key in RateKey]?: number } = {};
    let valid = true;
    for (const key of RATE_KEYS) {
      const value = rates[key];
      if (value === undefined) continue;
      const rate = parseRate(value);
      if (typeof rate === 'string') {
        this.problem(`${at}.${key}`, rate);
        valid = false;
      } else {
        compiled[key] = rate;
      }
    }
    return valid ? compiled : null;
  }

  #moment(text: string, at: string): number | null {
    const timeMs = MOMENT.test(text) ? parseMoment(text) : Number.NaN;
    return Number.isNaN(timeMs) ? this.problem(at, 'must be a date or an RFC 3339 time with Z or an offset') : timeMs;
  }
}

function isNameList(model: ModelMatch): model is readonly string[] {
  return Array.isArray(model);
}

function dayMask(days: readonly string[] | undefined): number {
  if (days === undefined) return EVERY_DAY;
  return days.reduce((mask, day) => mask | (1 << (WEEKDAYS as readonly string[]).indexOf(day)), 0);
}
