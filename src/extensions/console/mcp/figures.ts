/** Figures and times in answers: short, without loss where a model would compute with them. */
import type { Count } from '../../../pdata/exact-json.ts';
import type { PartOfRange } from '../api/shapes/answers.ts';
import { MINUTE_MS, MS_NS, NS_PER_MS, SECOND_MS } from '../../../pdata/time-units.ts';
import { line } from './untrusted.ts';

const UNKNOWN = '-';
const LONGEST_REASON = 400;

/** RFC 3339 with milliseconds. */
export function timeOf(ns: string | null): string {
  return ns === null ? UNKNOWN : new Date(Math.floor(Number(BigInt(ns) / MS_NS))).toISOString();
}

export const tookOf = (ns: string | null): string => (ns === null ? UNKNOWN : millis(Number(ns) / NS_PER_MS));

export function millis(ms: number | null): string {
  if (ms === null) return UNKNOWN;
  if (ms > 0 && ms < 0.001) return `${Math.round(ms * 1e6)}ns`;
  if (ms < 1) return `${Math.round(ms * 1000)}µs`;
  if (ms < SECOND_MS) return `${Number(ms.toPrecision(3))}ms`;
  if (ms < 2 * MINUTE_MS) return `${Number((ms / SECOND_MS).toPrecision(3))}s`;
  return `${Number((ms / MINUTE_MS).toPrecision(3))}min`;
}

/** US dollars. Null: unknown, which is not zero. */
export function costOf(cost: string | null): string {
  if (cost === null) return UNKNOWN;
  return `$${cost.includes('.') ? cost.replace(/\.?0+$/u, '') : cost}`;
}

/** `4700→576 tok (3100 cached)`; empty without any. */
export function tokensOf(sums: {
  readonly input_tokens: Count | null;
  readonly output_tokens: Count | null;
  readonly cache_read_tokens?: Count | null;
}): string {
  const { input_tokens: input, output_tokens: output, cache_read_tokens: cached = null } = sums;
  if (input === null && output === null) return '';
  return `${input ?? UNKNOWN}→${output ?? UNKNOWN} tok${cached === null || cached === 0 ? '' : ` (${cached} cached)`}`;
}

/** The line about archived records that an answer may lack; empty: it has all. `usual`: the reason without one. */
export function missingLines(
  { complete_from: from, unread }: PartOfRange,
  usual = 'ask for archived days with an earlier end',
): readonly string[] {
  if (from === undefined && unread === undefined) return [];
  const before = from === undefined ? '' : ` before ${timeOf(from)}`;
  return [`Incomplete${before}: ${unread === undefined ? usual : line(unread, LONGEST_REASON)}`];
}

export const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

/** Parts with a point between them, without the empty ones. */
export const joined = (...parts: readonly (string | null | false)[]): string =>
  parts.filter((part) => part !== null && part !== false && part !== '').join(' · ');
