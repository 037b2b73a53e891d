/**
 * Tokens and cost of one line of a trace, marked so that the lines add up to the totals. The cost of a sum that the
 * daemon computed may lack what the calls below know, such as cached tokens: the cost of those calls is shown instead.
 */
import { costOf, unitsOf } from '../../pdata/cost-sum.ts';
import { formatCost, formatCount } from './format.ts';
import type { TreeLine } from './span-tree.ts';
import type { Usage } from './trace-record.ts';

export const LEGEND = 'Σ: the sum of the spans below · ( ): counted on another line, not part of the totals';

const hasUsage = ({ input_tokens = null, output_tokens = null }: Usage): boolean =>
  input_tokens !== null || output_tokens !== null;

export const isMarked = (usage: Usage): boolean =>
  hasUsage(usage) && (usage.is_counted === false || usage.usage_scope === 'rollup');

/** Null: no tokens and no cost. `costBelow`: the counted cost of the lines below. */
export function describeUsage(usage: Usage, costBelow: string | null): string | null {
  const { input_tokens = null, output_tokens = null, cache_read_tokens = null, total_cost = null } = usage;
  const cached =
    cache_read_tokens === null || cache_read_tokens === 0 ? '' : ` (${formatCount(cache_read_tokens)} cached)`;
  const tokens = hasUsage(usage) ? `${formatCount(input_tokens)}${cached} → ${formatCount(output_tokens)}` : null;
  const repeats = usage.is_counted === false && usage.usage_scope === 'rollup' && usage.cost_source === 'derived';
  const cost = repeats ? (costBelow ?? total_cost) : total_cost;
  const figures = [tokens, cost === null ? null : formatCost(cost)].filter((fact) => fact !== null).join(' · ');
  if (figures === '') return null;
  if (!isMarked(usage)) return figures;
  const marked = usage.usage_scope === 'rollup' ? `Σ ${figures}` : figures;
  return usage.is_counted === false ? `(${marked})` : marked;
}

/** By line: the sum of the counted costs below it; null: none is known. */
export function costsBelow(lines: readonly TreeLine[]): readonly (string | null)[] {
  const sums: (bigint | null)[] = [];
  const below = new Array<string | null>(lines.length).fill(null);
  // From the last line up, the lines below a line have been added at the next depth.
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = lines[at] as TreeLine;
    const usage: Usage = line.kind === 'span' ? line.span : line.log;
    const inner = sums[line.depth + 1] ?? null;
    sums[line.depth + 1] = null;
    below[at] = inner === null ? null : costOf(inner);
    const own = usage.is_counted === true && usage.total_cost ? unitsOf(usage.total_cost) : null;
    const total = own === null && inner === null ? null : (own ?? 0n) + (inner ?? 0n);
    if (total !== null) sums[line.depth] = (sums[line.depth] ?? 0n) + total;
  }
  return below;
}
