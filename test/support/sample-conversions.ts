/** Conversions of rows, without the test library: a thread loads them. */
import { isMainThread } from 'node:worker_threads';

export const MODULE = import.meta.url;
export const isOnEventLoop = (): boolean => isMainThread;
export const fails = (): never => {
  throw new TypeError('no text');
};
