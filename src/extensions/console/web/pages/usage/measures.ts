/** What the usage page can measure and group by. */
import type { UsageFigures, UsageGroup, UsageKey } from '../../../api/shapes.ts';
import { cost, count, exactly, tookMs } from '../../text/figures.ts';
import { termOf } from '../../text/filter-text.ts';

export interface Measure {
  readonly id: string;
  readonly name: string;
  readonly value: (figures: UsageFigures) => number | null;
  readonly format: (value: number | null) => string;
  /** Whether values of groups can be added. */
  readonly isSum: boolean;
}

const sum = (id: string, name: string, value: Measure['value'], format: Measure['format'] = count): Measure => ({
  id,
  name,
  value,
  format,
  isSum: true,
});

export const MEASURES: readonly Measure[] = [
  sum('cost', 'Cost', ({ total_cost }) => (total_cost === null ? null : Number(total_cost)), cost),
  sum('calls', 'Calls', ({ call_count }) => call_count, exactly),
  sum('input', 'Input tokens', ({ input_tokens }) => input_tokens),
  sum('output', 'Output tokens', ({ output_tokens }) => output_tokens),
  sum('cached', 'Cache reads', ({ cache_read_tokens }) => cache_read_tokens),
  sum('written', 'Cache writes', ({ cache_write_tokens }) => cache_write_tokens),
  sum('reasoning', 'Reasoning tokens', ({ reasoning_tokens }) => reasoning_tokens),
  sum('errors', 'Errors', ({ error_count }) => error_count, exactly),
  { id: 'p50', name: 'Latency p50', value: ({ p50_ms }) => p50_ms, format: tookMs, isSum: false },
  { id: 'p95', name: 'Latency p95', value: ({ p95_ms }) => p95_ms, format: tookMs, isSum: false },
  { id: 'ttft', name: 'First token', value: ({ ttft_ms }) => ttft_ms, format: tookMs, isSum: false },
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

const HOUR_MS = 3_600_000;

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
  if (model !== undefined) return provider == null ? (model ?? 'no model') : `${model ?? 'no model'}`;
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

/** The filter that finds the traces behind a group; null where it has no value. */
export function filterOf(key: UsageKey): string | null {
  for (const [name, field] of FIELDS) {
    const value = key[name];
    if (typeof value === 'string') return termOf(field, value);
  }
  return null;
}
