/** Live traces: one stream of server-sent events while the list is open and its tab is shown. */
import { signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LiveTraces, TraceRow } from '../../api/shapes/traces.ts';
import { parseExact } from '../../../../pdata/exact-json.ts';
import { type Query, projectPath, urlOf } from '../data/api.ts';
import { retryAfter } from '../data/resource.ts';
import { loadMe } from './session.ts';
import { useStreamTurn } from './stream-turns.ts';
import { isTabShown } from './tab.ts';

export const liveOn = signal(true);
/** Whether the stream is open. */
export const connected = signal(false);
/** Rows that arrived and are not shown yet. */
export const pending = signal<readonly TraceRow[]>([]);
/** The number of traces that arrived without a row, and are not in `leftOut`. */
export const dropped = signal(0);
/** Starts of traces that had no place in their event, by id. The list may have some of them. */
const leftOut = signal<ReadonlyMap<string, bigint>>(new Map());

const MOST_PENDING = 500;
/** The latest are kept. */
const MOST_LEFT_OUT = 1_000;

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
  const failures = useRef(0);
  const [attempt, setAttempt] = useState(0);
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
    let stopWaiting = (): void => undefined;
    source.addEventListener('open', () => {
      failures.current = 0;
      connected.value = true;
    });
    source.addEventListener('error', () => {
      connected.value = false;
      if (source.readyState !== EventSource.CLOSED) return;
      // After a refusal the browser does not connect again, and does not tell the status. Another request finds out
      // whether the login has ended.
      loadMe().catch(() => undefined);
      stopWaiting = retryAfter(failures.current++, () => setAttempt((n) => n + 1));
    });
    listen('beat', () => undefined);
    listen('traces', (data) => add(parseExact(data) as LiveTraces));
    listen('gap', () => gap.current());
    return () => {
      stopWaiting();
      source.close();
      connected.value = false;
      // Without an event, the stream did not say where it ended.
      since.current ??= NEVER;
    };
  }, [on, url, attempt]);
}

function add(arrived: LiveTraces): void {
  pending.value = merge(arrived.items, pending.value).slice(0, MOST_PENDING);
  dropped.value += arrived.dropped - arrived.left_out.length;
  if (leftOut.value.size + arrived.left_out.length === 0) return;
  const all = new Map(leftOut.value);
  for (const [id, start] of arrived.left_out) all.set(id, BigInt(start));
  for (const { trace_id } of arrived.items) all.delete(trace_id);
  leftOut.value = new Map([...all].slice(-MOST_LEFT_OUT));
}

/**
 * The number of traces that had no place in their event and are not in the list. The first event of a stream looks back
 * a few seconds, so the list may have some, or load those that start before `from` with a page.
 */
export function missingIn(rows: readonly TraceRow[], from: bigint): number {
  if (leftOut.value.size === 0) return 0;
  const ids = new Set([...rows, ...pending.value].map(({ trace_id }) => trace_id));
  return [...leftOut.value].filter(([id, start]) => start > from && !ids.has(id)).length;
}

/** Latest start first; a row replaces an earlier one of the same trace. */
export function merge(newer: readonly TraceRow[], older: readonly TraceRow[]): readonly TraceRow[] {
  const ids = new Set(newer.map(({ trace_id }) => trace_id));
  return [...newer, ...older.filter(({ trace_id }) => !ids.has(trace_id))].sort(byStart);
}

const byStart = (a: TraceRow, b: TraceRow): number =>
  Number(BigInt(b.start_time_unix_nano) - BigInt(a.start_time_unix_nano));

/** The rows are shown. */
export function takePending(): void {
  pending.value = [];
  dropped.value = 0;
}

/** The list is loaded again. */
export function clearPending(): void {
  takePending();
  leftOut.value = new Map();
}
