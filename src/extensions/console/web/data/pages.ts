/** A bounded search in pages: the first one by the query, further ones on demand. */
import { useRef, useState } from 'preact/hooks';
import type { Page } from '../../api/shapes/answers.ts';
import { type ApiError, get, type Query } from './api.ts';
import { type Resource, asApiError, useAnswer } from './resource.ts';

export interface Search<Item> {
  readonly first: Resource<Page<Item>>;
  readonly items: readonly Item[];
  readonly examined: number;
  readonly reached: string | null;
  /** Earlier days of the range are archived and not found here; null: everything is. */
  readonly completeFrom: string | null;
  /** Why what is earlier, or a part of it, was not read. */
  readonly unread: string | null;
  readonly more: boolean;
  readonly continuing: boolean;
  readonly error: ApiError | null;
  next(): void;
}

interface More<Item> {
  readonly of: Page<Item> | null;
  readonly pages: readonly Page<Item>[];
  readonly continuing: boolean;
  readonly error: ApiError | null;
}

/** With a null path nothing is loaded. */
export function useSearch<Item>(path: string | null, query: Query): Search<Item> {
  const first = useAnswer<Page<Item>>(path, query);
  const [more, setMore] = useState<More<Item>>({ of: null, pages: [], continuing: false, error: null });
  // Later pages belong to one first page; another first page starts again.
  const own = more.of === first.data ? more : { of: first.data, pages: [], continuing: false, error: null };
  const latest = useRef(own);
  latest.current = own;
  const pages = first.data === null ? [] : [first.data, ...own.pages];
  const last = pages.at(-1);
  const next = (): void => {
    const { of, pages: before, continuing } = latest.current;
    if (path === null || last?.next == null || continuing || of === null) return;
    const set = (changed: Partial<More<Item>>): void => {
      if (latest.current.of !== of) return;
      latest.current = { ...latest.current, of, ...changed };
      setMore(latest.current);
    };
    set({ continuing: true, error: null });
    get<Page<Item>>(path, { ...query, cursor: last.next }).then(
      (page) => set({ pages: [...before, page], continuing: false }),
      (failure: unknown) => set({ continuing: false, error: asApiError(failure) }),
    );
  };
  return {
    first,
    items: pages.length === 1 ? (pages[0]?.items ?? []) : pages.flatMap(({ items }) => items),
    examined: pages.reduce((sum, { examined }) => sum + examined, 0),
    reached: last?.reached ?? null,
    completeFrom: last?.complete_from ?? null,
    unread: last?.unread ?? null,
    more: last?.more === true && last.next !== null,
    continuing: own.continuing,
    error: own.error,
    next,
  };
}
