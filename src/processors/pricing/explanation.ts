/**
 * Explains a price: the searched lists in order, the chosen card, and the cost of each bucket; as data and as text.
 */
import { formatMoney } from '../../pdata/money.ts';
import { formatMoment, type RateRow, rowFor } from './card.ts';
import { formatUnits } from './decimal.ts';
import type { PriceBook, ExplanationSteps } from './price-book.ts';
import { inputPairs, outputPairs, type PricedModel } from './priced-model.ts';
import { formatRate, INPUT_RATES, OUTPUT_RATES, RATE_KEYS, type RateKey } from './rates.ts';
import { Buckets, type CostFlag, namesOfFlags, type Usage } from './usage.ts';

export interface ExplainedBucket {
  readonly bucket: RateKey;
  readonly tokens: number;
  /** USD per million tokens, as a decimal string. */
  readonly rate: string;
  /** Exact USD, unrounded, as a decimal string. */
  readonly cost: string;
}

export interface PriceExplanation {
  readonly provider: string | null;
  readonly model: string;
  /** The provider as the price lists know it; null when none does. */
  readonly route: string | null;
  readonly startedAt: string;
  /** The explanation steps: every list and name that was searched, in order; the last one decided. */
  readonly tried: readonly string[];
  /** Why there is no price; null when there is one. */
  readonly unpriced: string | null;
  readonly card: ExplainedCard | null;
  readonly buckets: readonly ExplainedBucket[];
  readonly inputCost: string | null;
  readonly outputCost: string | null;
  readonly totalCost: string | null;
  readonly flags: readonly CostFlag[];
}

export interface ExplainedCard {
  readonly source: string;
  readonly version: string;
  readonly provider: string;
  readonly model: string;
  readonly match: string;
  readonly evidence: string | null;
  /** The audit text that is stored as `price_id`. */
  readonly priceId: string;
  readonly effectiveFrom: string | null;
  readonly window: string | null;
  readonly tier: string;
  /** The stated rates, USD per million tokens. */
  readonly rates: { readonly [key in RateKey]?: string };
}

/** Decimals of one 1e-15 USD. */
const UNIT_DIGITS = 15;

/** The cost of a call of this model that started at `startMs`, and its reasons. */
export function explainPrice(
  book: PriceBook,
  provider: string | null,
  model: string,
  usage: Usage,
  startMs: number,
): PriceExplanation {
  const tried: ExplanationSteps = [];
  const { route, priced, reason } = book.resolve(provider, model, tried);
  const base = { provider, model, route, startedAt: formatMoment(startMs), tried };
  const nothing = { card: null, buckets: [], inputCost: null, outputCost: null, totalCost: null, flags: [] };
  if (priced === null) return { ...base, ...nothing, unpriced: reason };
  const inForce = priced.at(startMs);
  const table = inForce?.card.of(usage.serviceTier ?? null).tableAt(startMs) ?? null;
  if (inForce === null || table === null)
    return { ...base, ...nothing, unpriced: `the price list has no price of ${priced.card.draft.model} at that time` };
  const buckets = new Buckets();
  buckets.split(usage);
  const row = buckets.inputKnown ? rowFor(table, buckets.prompt) : table.base;
  const cost = inForce.cost(usage, startMs);
  return {
    ...base,
    unpriced: null,
    card: describeCard(inForce, row, cost.audit),
    buckets: describeBuckets(buckets, row, cost.inputCost !== null, cost.outputCost !== null),
    inputCost: cost.inputCost === null ? null : formatMoney(cost.inputCost),
    outputCost: cost.outputCost === null ? null : formatMoney(cost.outputCost),
    totalCost: cost.totalCost === null ? null : formatMoney(cost.totalCost),
    flags: namesOfFlags(cost.flags),
  };
}

function describeCard(priced: PricedModel, row: RateRow, audit: string | null): ExplainedCard {
  const { origin, provider, model, evidence } = priced.card.draft;
  const rates: { [key in RateKey]?: string } = {};
  for (const key of RATE_KEYS) {
    const rate = row.stated[key];
    if (rate !== undefined) rates[key] = formatRate(rate);
  }
  return {
    source: origin.source,
    version: origin.version,
    provider,
    model,
    match: priced.match,
    evidence,
    priceId: audit ?? priced.auditOf(row),
    effectiveFrom: Number.isFinite(row.effectiveFromMs) ? formatMoment(row.effectiveFromMs) : null,
    window: row.window,
    tier: row.tier,
    rates,
  };
}

function describeBuckets(buckets: Buckets, row: RateRow, input: boolean, output: boolean): ExplainedBucket[] {
  const describe = (keys: readonly RateKey[], pairs: readonly [number, number][]): ExplainedBucket[] =>
    pairs.flatMap(([tokens, rate], index) => {
      const bucket = keys[index];
      if (bucket === undefined || tokens === 0) return [];
      return [
        { bucket, tokens, rate: formatRate(rate), cost: formatUnits(BigInt(tokens) * BigInt(rate), UNIT_DIGITS) },
      ];
    });
  return [
    ...(input ? describe(INPUT_RATES, inputPairs(buckets, row)) : []),
    ...(output ? describe(OUTPUT_RATES, outputPairs(buckets, row)) : []),
  ];
}

const FLAG_WORDS: Readonly<Record<CostFlag, string>> = {
  cache_outside_input: 'more cached than input tokens: input was read as not including them',
  parts_outside_output: 'more reasoning, audio and image than output tokens: output was read as not including them',
  audio_at_text_rate: 'the price list has no audio rate: audio was billed as text',
  no_1h_rate: 'the price list has no rate for one-hour cache writes: the ordinary write rate was used',
  tier_unknown: 'the rates depend on the size of the prompt, which is unknown: the output side stays unpriced',
  over_limit: 'a cost of 10^10 USD or more was refused',
  image_at_text_rate: 'the price list has no image rate: images were billed as text',
  service_at_standard_rate: 'the price list has no rates for this tier of service: the standard ones were used',
};

/** The explanation as lines of plain text. */
export function describePrice(explanation: PriceExplanation): string {
  const { card, buckets } = explanation;
  const asked = `${explanation.provider ?? '(no provider)'} / ${explanation.model} at ${explanation.startedAt}`;
  if (card === null) {
    const searched =
      explanation.tried.length === 0
        ? 'Nothing was searched.'
        : `Searched:\n${explanation.tried.map((place) => `  ${place}`).join('\n')}`;
    return `${asked}\nNo price: ${explanation.unpriced}.\n${searched}\nAn entry under pricing.overrides can price it.`;
  }
  const searched = explanation.tried.length === 1 ? '1 place' : `${explanation.tried.length} places`;
  const lines = [
    asked,
    `Provider ${explanation.route ?? 'none'}; matched ${card.provider}/${card.model} (${card.match}) of ${card.source} ${card.version}; ${searched} searched.`,
    `In force from ${card.effectiveFrom ?? 'the beginning'}${card.window === null ? '' : `, hours ${card.window}`}, tier ${card.tier}. USD per million tokens: ${Object.entries(
      card.rates,
    )
      .map(([key, rate]) => `${key} ${rate}`)
      .join(', ')}.`,
    ...(card.evidence === null ? [] : [`Source: ${card.evidence}`]),
    ...buckets.map(({ bucket, tokens, rate, cost }) => `  ${bucket}: ${tokens} tokens x ${rate} / 1,000,000 = ${cost}`),
    `Input ${explanation.inputCost ?? 'unknown'}, output ${explanation.outputCost ?? 'unknown'}, total ${explanation.totalCost ?? 'unknown'} USD.`,
    ...explanation.flags.map((flag) => `Note: ${FLAG_WORDS[flag]}.`),
    `price_id: ${card.priceId}`,
  ];
  return lines.join('\n');
}
