/**
 * Whether another process is alive, whether a pid still belongs to the same process, and where pids can be compared.
 */
import { readFile, readlink } from 'node:fs/promises';
import { hostname, platform } from 'node:os';
import type { HostProcess } from './component.ts';
import { errorCode } from '../errors.ts';

type Observer = Pick<HostProcess, 'pid' | 'kill'>;

/** Index of the start time among the fields that follow the program's name in /proc/PID/stat. */
const START_TIME_FIELD = 19;

/**
 * Whether a process exists and runs. A zombie counts as gone. The answer is valid in the pid namespace of this process
 * only.
 */
export async function isAlive(host: Observer, pid: number): Promise<boolean> {
  if (!exists(host, pid)) return false;
  const fields = await statFields(host, pid);
  // Without the fields only its existence counts, and it may have ended while they were read.
  return fields === undefined ? exists(host, pid) : fields[0] !== 'Z' && fields[0] !== 'X';
}

/** A zombie exists. */
function exists(host: Observer, pid: number): boolean {
  try {
    host.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/**
 * The start time of a process, which differs from that of a later process with the same pid; undefined when unknown.
 */
export async function birthOf(host: Observer, pid: number): Promise<string | undefined> {
  const ticks = (await statFields(host, pid))?.[START_TIME_FIELD];
  if (ticks === undefined) return undefined;
  return `${(await bootId()) ?? ''}/${ticks}`;
}

/**
 * Identifies the scope in which a pid has one meaning: on Linux one boot of one kernel and one pid namespace (the time
 * namespace shifts start times), elsewhere the machine. Undefined when it is unknown; pids of other processes can then
 * not be compared.
 */
export async function placeOfPids(): Promise<string | undefined> {
  if (platform() !== 'linux') return `${platform()}/${hostname()}`;
  const namespace = (kind: string) => readlink(`/proc/self/ns/${kind}`).catch(() => '');
  const [boot, pids, time] = await Promise.all([bootId(), namespace('pid'), namespace('time')]);
  return boot === undefined || pids === '' ? undefined : `${boot}/${pids}/${time}`;
}

/** Identifies one boot of one kernel; undefined where the system has no boot id. */
export async function bootId(): Promise<string | undefined> {
  const text = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return text.trim() || undefined;
}

/**
 * False without /proc, or when /proc belongs to another pid namespace, as after `unshare --pid` alone: its pids mean
 * others.
 */
export async function hasOwnProc(host: Pick<HostProcess, 'pid'>): Promise<boolean> {
  return (await readlink('/proc/self').catch(() => '')) === String(host.pid);
}

/** The fields of /proc/PID/stat from the state on. The name before them may contain blanks and brackets. */
async function statFields(host: Observer, pid: number): Promise<string[] | undefined> {
  if (!(await hasOwnProc(host))) return undefined;
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}
