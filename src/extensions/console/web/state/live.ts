/** Live traces: one stream of server-sent events while the list is open. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LiveTraces, TraceRow } from '../../api/shapes.ts';
import { parseExact } from '../../../../pdata/exact-json.ts';
import { type Query, projectPath, urlOf } from '../data/api.ts';

export const liveOn = signal(true);
/** Whether the stream is open. */
export const connected = signal(false);
/** Rows that arrived and are not shown yet. */
export const pending = signal<readonly TraceRow[]>([]);
export const dropped = signal(0);

const MOST_PENDING = 500;

/** Listens while the component is mounted, `active` holds and live is switched on. */
export function useLive(project: string, query: Query, active: boolean): void {
  const on = liveOn.value && active;
  useEffect(() => {
    clearPending();
    if (!on) return;
    const source = new EventSource(urlOf(projectPath(project, 'live'), query));
    source.addEventListener('open', () => (connected.value = true));
    source.addEventListener('error', () => (connected.value = false));
    source.addEventListener('traces', (event: MessageEvent<string>) => add(parseExact(event.data) as LiveTraces));
    return () => {
      source.close();
      connected.value = false;
    };
  }, [on, project, JSON.stringify(query)]);
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
