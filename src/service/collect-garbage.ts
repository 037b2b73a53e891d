import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * The engine begins a collection when more memory than this, outside of its heap, was allocated since the last one
 * (`kExternalAllocationSoftLimit` of V8, 64 MiB).
 */
const COUNTED_BYTES = 72 * 1024 * 1024;

/**
 * A full collection at once, which takes 20 to 50 ms. It also removes the maps of all classes that have no instance at
 * this moment, and the compiled code that refers to them: V8 looks for maps to keep before it knows which constructors
 * are alive. The next requests then take twice the processor time for some seconds.
 */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/**
 * Begins a full collection in steps, which ends within some 100 ms if the process is idle, and keeps compiled code. The
 * engine has no call for it. It begins one when a large buffer is allocated. Nothing is written to the buffer, so it
 * takes no memory.
 */
export function beginCollection(): void {
  try {
    new ArrayBuffer(COUNTED_BYTES);
  } catch {
    // Not enough address space (`ulimit -v`).
    setImmediate(collectGarbage);
  }
}

/**
 * Whether the engine may collect in steps; if not, a collection that is due takes place at once. In a process that has
 * grown and is idle for some seconds, the engine begins collections in steps by itself, which remove maps and code as
 * `collectGarbage` does. This part of it (its memory reducer) has no switch that works after the start.
 */
export function allowSteps(allowed: boolean): void {
  setFlagsFromString(allowed ? '--incremental-marking' : '--no-incremental-marking');
}
