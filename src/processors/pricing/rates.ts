/**
 * Rates: what one token of each kind costs. A rate is a whole number of 1e-15 USD per token, which is USD per million
 * tokens with nine decimals, so every published price is an exact integer below 2^53.
 */
import { atScale, type Decimal, decimalOfNumber, decimalOfText, formatUnits } from './decimal.ts';

/** Every token kind with a rate of its own, in output order: of the request, then of the answer. */
export const INPUT_RATES = [
  'input',
  'cache_read',
  'cache_write',
  'cache_write_1h',
  'input_audio',
  'cache_audio_read',
  'input_image',
] as const;
export const OUTPUT_RATES = ['output', 'reasoning', 'output_audio', 'output_image'] as const;
export const RATE_KEYS = [...INPUT_RATES, ...OUTPUT_RATES] as const;
export type RateKey = (typeof RATE_KEYS)[number];

/** The stated rates of one card, tier or window; a missing key falls back as `RateRow` says. */
export type Rates = { readonly [key in RateKey]?: number };

/** Decimals a price per million tokens may have: 1e-9 USD per million is 1e-15 USD per token. */
export const RATE_DECIMALS = 9;
/** Highest price per million tokens, in USD; keeps every rate a safe integer. */
export const RATE_LIMIT_USD = 1_000_000;
const RATE_UNITS = 10 ** RATE_DECIMALS;
const RATE_LIMIT = RATE_LIMIT_USD * RATE_UNITS;
/** The longest text of a rate; seven integer digits, a point and nine decimals fit. */
const RATE_TEXT_LENGTH = 32;

/** A price per million tokens as a rate, or a message why it is invalid. */
export function parseRate(value: string | number): number | string {
  const decimal = readDecimal(value);
  if (decimal === null) return 'must be a decimal number of USD per million tokens';
  if (decimal.scale > RATE_DECIMALS) return `at most ${RATE_DECIMALS} decimals`;
  const rate = Number(atScale(decimal, RATE_DECIMALS));
  return rate <= RATE_LIMIT ? rate : `must be from 0 to ${RATE_LIMIT_USD}`;
}

/** A published float without its rounding error (`0.18000000000000002`); null when it is no price. */
export function roundRate(value: number): number | null {
  if (!Number.isFinite(value) || value < 0) return null;
  const scaled = value * RATE_UNITS;
  // Most prices are exact here; the others are converted through their shortest decimal.
  if (Number.isSafeInteger(scaled)) return scaled <= RATE_LIMIT ? scaled : null;
  const rate = Number(atScale(decimalOfNumber(value), RATE_DECIMALS));
  return rate <= RATE_LIMIT ? rate : null;
}

/** A rate times an exact factor, rounded half away from zero; null when it leaves the range of rates. */
export function scaleRate(rate: number, factor: Decimal): number | null {
  const scaled = Number(atScale({ units: BigInt(rate) * factor.units, scale: factor.scale }, 0));
  return scaled <= RATE_LIMIT ? scaled : null;
}

/** The price per million tokens of a rate, as its shortest decimal. */
export function formatRate(rate: number): string {
  return formatUnits(BigInt(rate), RATE_DECIMALS);
}

/** A quoted decimal or a plain number of a config file; null when it is neither. */
export function readDecimal(value: string | number): Decimal | null {
  if (typeof value === 'number') return Number.isFinite(value) && value >= 0 ? decimalOfNumber(value) : null;
  return value.length <= RATE_TEXT_LENGTH ? decimalOfText(value) : null;
}
