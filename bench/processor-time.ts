/**
 * Processor time of other processes, from the kernel. Other load delays a process more than it adds to its processor
 * time, so this figure is more stable than wall-clock time. Linux only; NaN elsewhere.
 */
import { readFileSync } from 'node:fs';
import { NS_PER_MS } from '../src/pdata/time-units.ts';

/** Processor milliseconds of the main threads of the processes so far. */
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
