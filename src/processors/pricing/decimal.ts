/**
 * Exact decimals: a number's shortest decimal spelling or a plain decimal string, as a bigint and a count of fractional
 * digits. Prices and explicit costs both use it, so neither has rounding errors of binary fractions.
 */
export interface Decimal {
  /** The value times 10^scale. */
  readonly units: bigint;
  readonly scale: number;
}

const PLAIN_DECIMAL = /^(\d+)(?:\.(\d+))?$/;

/**
 * The shortest decimal that reads back as the number: `0.1` is one tenth, not the double below it. The number is finite
 * and not negative.
 */
export function decimalOfNumber(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  const units = BigInt(whole + fraction);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}

/** Digits with an optional fraction, no sign and no exponent; null for anything else. */
export function decimalOfText(text: string): Decimal | null {
  const match = PLAIN_DECIMAL.exec(text);
  if (match === null) return null;
  const fraction = match[2] ?? '';
  return { units: BigInt(`${match[1]}${fraction}`), scale: fraction.length };
}

/** The value times 10^digits, rounded half away from zero where the decimal is longer. */
export function atScale(decimal: Decimal, digits: number): bigint {
  const shift = digits - decimal.scale;
  if (shift >= 0) return decimal.units * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (decimal.units + divisor / 2n) / divisor;
}

/** `units` of 10^-digits as the shortest plain decimal: `75000000n` at 9 digits is `0.075`. */
export function formatUnits(units: bigint, digits: number): string {
  const text = units.toString().padStart(digits + 1, '0');
  const fraction = text.slice(text.length - digits).replace(/0+$/, '');
  const whole = text.slice(0, text.length - digits);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}
