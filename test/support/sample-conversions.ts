/** Conversions of rows that show where they run, and that fail. Without the test library, because a thread loads them. */
import { isMainThread } from 'node:worker_threads';

export const MODULE = import.meta.url;
export const isOnEventLoop = (): boolean => isMainThread;
export const fails = (): never => {
  throw new TypeError('no text');
};
export function exhausts(): number {
  const lists: number[][] = [];
  for (;;) lists.push(new Array<number>(4_000_000).fill(0.5));
}
