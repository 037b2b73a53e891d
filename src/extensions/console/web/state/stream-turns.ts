/**
 * Which windows of a browser have a stream. A browser has six connections to a host for all its windows, and each
 * stream keeps one, so the windows that were used last have theirs and the others wait.
 */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The other connections are for requests. */
const MAX_STREAMS = 4;

/** A message to the other windows: this window wants a stream. */
interface Wish {
  readonly id: number;
  /** When the window was last used; null: it wants no stream. */
  readonly usedMs: number | null;
}

/** Whether this window may have a stream. */
export const hasTurn = signal(true);

/** Whether this window may have a stream while it wants one. */
export function useStreamTurn(isWanted: boolean): boolean {
  useEffect(() => (isWanted ? waitForTurns() : undefined), [isWanted]);
  return isWanted && hasTurn.value;
}

/** Returns what ends the wish. A window need not know of those that were used before it. */
function waitForTurns(): () => void {
  const channel = new BroadcastChannel('streams');
  const id = Math.random();
  const others = new Map<number, number>();
  let usedMs = 0;
  const decide = (): void => {
    const later = [...others].filter(([other, ms]) => ms > usedMs || (ms === usedMs && other > id));
    hasTurn.value = later.length < MAX_STREAMS;
  };
  const use = (): void => {
    usedMs = Date.now();
    channel.postMessage({ id, usedMs } satisfies Wish);
    decide();
  };
  const leave = (): void => channel.postMessage({ id, usedMs: null } satisfies Wish);
  channel.addEventListener('message', ({ data }: MessageEvent<Wish>) => {
    if (data.usedMs === null) others.delete(data.id);
    else others.set(data.id, data.usedMs);
    decide();
  });
  addEventListener('focus', use);
  addEventListener('pagehide', leave);
  use();
  return () => {
    removeEventListener('focus', use);
    removeEventListener('pagehide', leave);
    leave();
    channel.close();
    hasTurn.value = true;
  };
}
