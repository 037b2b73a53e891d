/** Exact sums of costs, which are decimal strings with at most eight digits after the point. */

const COST_DIGITS = 8;

/** In the smallest stored unit, 10⁻⁸ dollars. */
export function unitsOf(cost: string): bigint {
  const [whole = '0', fraction = ''] = cost.split('.');
  return BigInt(`${whole}${fraction.padEnd(COST_DIGITS, '0').slice(0, COST_DIGITS)}`);
}

export function costOf(units: bigint): string {
  const digits = String(units).padStart(COST_DIGITS + 1, '0');
  return `${digits.slice(0, -COST_DIGITS)}.${digits.slice(-COST_DIGITS)}`;
}

/** Null: no cost is known. */
export function sumCosts(costs: readonly (string | null)[]): string | null {
  const known = costs.flatMap((cost) => (cost === null ? [] : [unitsOf(cost)]));
  return known.length === 0 ? null : costOf(known.reduce((sum, units) => sum + units, 0n));
}
