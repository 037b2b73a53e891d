/** Follows a list whose items have no id: its first page is requested repeatedly. */
import { useEffect, useState } from 'preact/hooks';
import type { Page } from '../../api/shapes/answers.ts';
import { connected } from '../state/live.ts';
import { get, type Query, urlOf } from './api.ts';

const PAUSE_MS = 2_000;
/** After a slow request the pause is this many times its duration. */
const PAUSE_FACTOR = 5;

/** The latest first page of the list; null as long as there is none. */
export function useFollow<Item>(path: string, query: Query, active: boolean): Page<Item> | null {
  const [latest, setLatest] = useState<{ readonly of: string; readonly page: Page<Item> } | null>(null);
  const key = urlOf(path, query);
  useEffect(() => {
    if (!active) return;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ask = async (): Promise<void> => {
      const start = Date.now();
      try {
        const page = await get<Page<Item>>(path, { ...query, archived: 'false' }, controller.signal);
        setLatest({ of: key, page });
        connected.value = true;
      } catch {
        connected.value = false;
      }
      if (!controller.signal.aborted) timer = setTimeout(ask, Math.max(PAUSE_MS, PAUSE_FACTOR * (Date.now() - start)));
    };
    void ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
      connected.value = false;
    };
  }, [key, active]);
  return latest?.of === key ? latest.page : null;
}

/** Newer items, and those of an older list that come after the last of them; null: nothing connects the two. */
export function joined<Item>(
  newer: readonly Item[],
  older: readonly Item[],
  keyOf: (item: Item) => string,
): readonly Item[] | null {
  const last = newer.at(-1);
  if (last === undefined) return older;
  const key = keyOf(last);
  const at = older.findIndex((item) => keyOf(item) === key);
  return at < 0 ? null : [...newer, ...older.slice(at + 1)];
}
