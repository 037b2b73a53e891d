/** Whether another process lives, and whether it is still the one that had its number before. */
import { readFile } from 'node:fs/promises';
import type { HostProcess } from './component.ts';

/** Whether a process exists and still runs. One that has died but was never collected by its parent counts as gone. */
export async function isAlive(host: Pick<HostProcess, 'kill'>, pid: number): Promise<boolean> {
  try {
    host.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const fields = await statFields(pid);
  return fields === undefined || (fields[0] !== 'Z' && fields[0] !== 'X');
}

/** When a process began, in a form that tells it from a later one with the same number; undefined where unknown. */
export async function birthOf(pid: number): Promise<string | undefined> {
  const ticks = (await statFields(pid))?.[START_TIME_FIELD];
  if (ticks === undefined) return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
  return `${boot.trim()}/${ticks}`;
}

/** Position of the start time among the fields that follow the program's name in /proc/PID/stat. */
const START_TIME_FIELD = 19;

/** The fields of /proc/PID/stat from the state on; the name before them may hold blanks and brackets. */
async function statFields(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return text?.slice(text.lastIndexOf(')') + 2).split(' ');
}
