/** What the usage page can measure and group by. */
import type { UsageFigures, UsageGroup, UsageKey } from '../../../api/shapes/usage.ts';
import type { Count } from '../../../../../pdata/exact-json.ts';
import { HOUR_MS } from '../../../../../pdata/time-units.ts';
import { cost, count, exactCost, exactly, tookMs } from '../../text/figures.ts';
import { termOf } from '../../text/filter-text.ts';

export interface Measure {
  readonly id: string;
  readonly name: string;
  /** For charts and shares, which need no more digits than a number has. */
  readonly value: (figures: UsageFigures) => number | null;
  readonly format: (value: number | null) => string;
  /** All digits, where `format` rounds. */
  readonly exact: ((figures: UsageFigures) => string) | null;
  /** Whether values of groups can be added. */
  readonly isSum: boolean;
}

const latency = (id: string, name: string, value: Measure['value']): Measure => ({
  ...{ id, name, value, isSum: false },
  ...{ format: tookMs, exact: null },
});

const numberOf = (value: Count | string | null): number | null => (value === null ? null : Number(value));

const tokens = (id: string, name: string, sum: (figures: UsageFigures) => Count | null): Measure => ({
  ...{ id, name, isSum: true },
  value: (figures) => numberOf(sum(figures)),
  format: count,
  exact: (figures) => exactly(sum(figures)),
});

const counted = (id: string, name: string, value: Measure['value']): Measure => ({
  ...{ id, name, value, isSum: true },
  ...{ format: exactly, exact: null },
});

export const COST: Measure = {
  ...{ id: 'cost', name: 'Cost', isSum: true },
  value: ({ total_cost }) => numberOf(total_cost),
  format: cost,
  exact: ({ total_cost }) => exactCost(total_cost),
};

export const MEASURES: readonly Measure[] = [
  COST,
  counted('calls', 'Calls', ({ call_count }) => call_count),
  tokens('input', 'Input tokens', ({ input_tokens }) => input_tokens),
  tokens('output', 'Output tokens', ({ output_tokens }) => output_tokens),
  tokens('cached', 'Cache reads', ({ cache_read_tokens }) => cache_read_tokens),
  tokens('written', 'Cache writes', ({ cache_write_tokens }) => cache_write_tokens),
  tokens('reasoning', 'Reasoning tokens', ({ reasoning_tokens }) => reasoning_tokens),
  counted('errors', 'Errors', ({ error_count }) => error_count),
  latency('p50', 'Latency p50', ({ p50_ms }) => p50_ms),
  latency('p95', 'Latency p95', ({ p95_ms }) => p95_ms),
  latency('ttft', 'First token', ({ ttft_ms }) => ttft_ms),
];

export const GROUPS: readonly (readonly [UsageGroup, string])[] = [
  ['none', 'Total'],
  ['model', 'Model'],
  ['provider', 'Provider'],
  ['user', 'User'],
  ['service', 'Service'],
  ['agent', 'Agent'],
  ['conversation', 'Conversation'],
  ['environment', 'Environment'],
];

/** About 30 to 60 points over the range. */
export function intervalOf(lengthMs: number): string {
  if (lengthMs <= HOUR_MS) return '1m';
  if (lengthMs <= 6 * HOUR_MS) return '10m';
  if (lengthMs <= 2 * 24 * HOUR_MS) return '1h';
  if (lengthMs <= 8 * 24 * HOUR_MS) return '6h';
  return '24h';
}

export const msOfInterval = (interval: string): number => {
  const [, value = '1', unit = 'h'] = /^(\d+)([smh])/u.exec(interval) ?? [];
  return Number(value) * (unit === 'h' ? HOUR_MS : unit === 'm' ? 60_000 : 1_000);
};

export function nameOf(key: UsageKey): string {
  if (key.other === true) return 'all others';
  const { provider, model, ...rest } = key;
  if (model !== undefined) return model ?? 'no model';
  const values = Object.values({ ...(provider === undefined ? {} : { provider }), ...rest });
  return values.length === 0 ? 'all calls' : String(values[0] ?? 'unknown');
}

const FIELDS: readonly (readonly [keyof UsageKey, string])[] = [
  ['model', 'model'],
  ['provider', 'provider'],
  ['user_id', 'user'],
  ['service_name', 'service'],
  ['agent_name', 'agent'],
  ['conversation_id', 'conversation'],
  ['environment', 'env'],
];

/** The terms that find the traces behind a group; empty where it has no value, which no term finds. */
export const termsOf = (key: UsageKey): readonly string[] =>
  FIELDS.flatMap(([name, field]) => {
    const value = key[name];
    return typeof value === 'string' && key.model !== null ? [termOf(field, value)] : [];
  });
