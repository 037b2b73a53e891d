/** Live traces: one stream of server-sent events while the list is open and its tab is shown. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { LiveTraces, TraceRow } from '../../api/shapes.ts';
import { parseExact } from '../../../../pdata/exact-json.ts';
import { type Query, projectPath, urlOf } from '../data/api.ts';
import { useStreamTurn } from './stream-turns.ts';
import { isTabShown } from './tab.ts';

export const liveOn = signal(true);
/** Whether the stream is open. */
export const connected = signal(false);
/** Rows that arrived and are not shown yet. */
export const pending = signal<readonly TraceRow[]>([]);
export const dropped = signal(0);

const MOST_PENDING = 500;

export interface LiveQuestion {
  readonly project: string;
  readonly query: Query;
  readonly active: boolean;
  /** Traces may be missing, because the page did not listen for too long. */
  readonly onGap: () => void;
}

/** No stream was open when the list was loaded, so the server reports a gap. */
const NEVER = '0';

/**
 * Listens while the component is mounted, `active` holds, live is switched on, the tab is shown and it is the turn of
 * this window. A stream that opens again continues where the one before ended.
 */
export function useLive({ project, query, active, onGap }: LiveQuestion): void {
  const isWanted = liveOn.value && active && isTabShown.value;
  const on = useStreamTurn(isWanted);
  const path = projectPath(project, 'live');
  const url = urlOf(path, query);
  const since = useRef<string | null>(null);
  const gap = useRef(onGap);
  gap.current = onGap;
  useEffect(() => {
    clearPending();
    since.current = on ? null : NEVER;
  }, [url]);
  useEffect(() => {
    if (!on) return;
    const source = new EventSource(urlOf(path, { ...query, since: since.current }));
    const listen = (name: string, act: (data: string) => void): void =>
      source.addEventListener(name, (event: MessageEvent<string>) => {
        since.current = event.lastEventId;
        act(event.data);
      });
    source.addEventListener('open', () => (connected.value = true));
    source.addEventListener('error', () => (connected.value = false));
    listen('beat', () => undefined);
    listen('traces', (data) => add(parseExact(data) as LiveTraces));
    listen('gap', () => gap.current());
    return () => {
      source.close();
      connected.value = false;
      // Without an event, the stream did not say where it ended.
      since.current ??= NEVER;
    };
  }, [on, url]);
}

function add(arrived: LiveTraces): void {
  pending.value = merge(arrived.items, pending.value).slice(0, MOST_PENDING);
  dropped.value += arrived.dropped;
}

/** Latest start first; a row replaces an earlier one of the same trace. */
export function merge(newer: readonly TraceRow[], older: readonly TraceRow[]): readonly TraceRow[] {
  const ids = new Set(newer.map(({ trace_id }) => trace_id));
  return [...newer, ...older.filter(({ trace_id }) => !ids.has(trace_id))].sort(byStart);
}

const byStart = (a: TraceRow, b: TraceRow): number =>
  Number(BigInt(b.start_time_unix_nano) - BigInt(a.start_time_unix_nano));

export function clearPending(): void {
  pending.value = [];
  dropped.value = 0;
}
