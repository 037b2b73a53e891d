/** Processor time and memory of a process and its children, from /proc. Linux only; zero elsewhere. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The unit of /proc, the same on all machines with Linux. */
const TICKS_PER_SECOND = 100;

export interface Usage {
  readonly cpuSeconds: number;
  /** The peak memory of the process and its children so far. */
  readonly peakMiB: number;
}

/** The usage of a process and its children so far. */
export function usageOf(root: number): Usage {
  let cpuSeconds = 0;
  let peakMiB = 0;
  for (const pid of familyOf(root)) {
    const fields = statOf(pid);
    if (fields === undefined) continue;
    // User and system time, and those of children that have ended.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    cpuSeconds += ticks / TICKS_PER_SECOND;
    peakMiB += peakOf(pid);
  }
  return { cpuSeconds, peakMiB };
}

/** 0 when the process has ended. */
export function parentOf(pid: number): number {
  return Number(statOf(pid)?.[1] ?? 0);
}

/** A process and its children. */
export function familyOf(root: number): readonly number[] {
  if (root === 0 || !existsSync('/proc')) return [];
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : 0;
    if (parent !== 0) parents.set(Number(name), parent);
  }
  const belongs = (pid: number | undefined): boolean =>
    pid === root || (pid !== undefined && pid > 1 && belongs(parents.get(pid)));
  return [...parents.keys()].filter(belongs);
}

/** The fields of /proc/PID/stat from the state on: 0 the state, 1 the parent, 11 to 14 the times. */
function statOf(pid: number): readonly string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined; // The process has ended.
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
