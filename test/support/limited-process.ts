/** A memory limit for processes: a control group of version 1 or 2, where this user may create one. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MemoryGroup {
  /** Adds a process, with all processes it starts from now on. */
  add(pid: number): void;
  /** The number of processes that the kernel has killed because of the limit. */
  readonly kills: number;
  /** Removes the group, unless one of its processes is still ending: an empty group costs nothing. */
  remove(): void;
}

const V1 = { root: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', kills: 'memory.oom_control' };
const V2 = { root: '/sys/fs/cgroup', limit: 'memory.max', kills: 'memory.events' };

/** Null where the machine or the user's rights do not allow it. */
export function openMemoryGroup(limitBytes: number): MemoryGroup | null {
  const version = existsSync(join(V1.root, V1.limit)) ? V1 : V2;
  const folder = join(version.root, `sluice-memory-${process.pid}`);
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, version.limit), String(limitBytes));
  } catch {
    return null;
  }
  return {
    add: (pid) => writeFileSync(join(folder, 'cgroup.procs'), String(pid)),
    get kills() {
      return Number(/^oom_kill (\d+)$/mu.exec(readFileSync(join(folder, version.kills), 'utf8'))?.[1] ?? 0);
    },
    remove: () => {
      try {
        rmdirSync(folder);
      } catch {
        // A process is still in the group.
      }
    },
  };
}

const KIB_PER_MIB = 1024;

/** Current and highest resident memory of one process in MiB. */
export function residentMiB(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const of = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'mu').exec(status)?.[1] ?? 0);
  return { now: of('VmRSS') / KIB_PER_MIB, peak: of('VmHWM') / KIB_PER_MIB };
}
