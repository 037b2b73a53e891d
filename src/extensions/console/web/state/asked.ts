/** The search that the reader has set for the lists. */
import { useRef } from 'preact/hooks';
import type { Query } from '../data/api.ts';
import { limitsOf, nsOf } from '../text/time.ts';
import { parameter } from './location.ts';

/** The parameters of a search, fixed until the reader changes them or loads again. */
export interface Asked {
  readonly project: string;
  readonly q: string | null;
  readonly query: Query;
  /** `query` without the filter. */
  readonly range: Query;
  readonly isOpenEnd: boolean;
}

export function useAsked(project: string): Asked {
  const [q, env, from, to] = ['q', 'env', 'from', 'to'].map(parameter) as (string | null)[];
  const key = JSON.stringify([project, q, env, from, to]);
  const kept = useRef<{ key: string; asked: Asked } | null>(null);
  if (kept.current?.key !== key) {
    const [start, end] = limitsOf(from ?? null, to ?? null, nsOf);
    const isOpenEnd = (to || 'now') === 'now';
    const range = { env, from: start, to: isOpenEnd ? null : end };
    kept.current = { key, asked: { project, q: q ?? null, range, query: { q, ...range }, isOpenEnd } };
  }
  return kept.current.asked;
}
