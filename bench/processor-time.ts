/**
 * Processor time of other processes, from the kernel's own account. Neighbours on a busy machine delay a process more than they
 * make it work, so this figure is steadier than the clock's. Linux only; NaN elsewhere.
 */
import { readFileSync } from 'node:fs';

const NS_PER_MS = 1e6;

/** Milliseconds that the main threads of the processes have run so far. */
export function processorMs(pids: readonly number[]): number {
  try {
    return pids.reduce(
      (sum, pid) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / NS_PER_MS,
      0,
    );
  } catch {
    return Number.NaN;
  }
}

export function ownProcessorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
