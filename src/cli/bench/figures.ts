/** Statistics of samples. */

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** A quantile of the values; NaN without values. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

export const grouped = (value: number): string => Math.round(value).toLocaleString('en-US');
export const percent = (value: number): string => `${(value * 100).toFixed(1)} %`;
