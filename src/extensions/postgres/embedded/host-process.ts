/** What the embedded server needs to know about other processes of the machine, and how it reports. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { basename } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The operating-system user of PostgreSQL. Undefined where it is used: our own user. */
export interface Identity {
  readonly uid: number;
  readonly gid: number;
}

export interface ServerLog {
  info(message: string): void;
  warn(message: string): void;
}

/** A problem that the operator can solve; the message says how. */
export class EmbeddedServerError extends Error {
  override readonly name = 'EmbeddedServerError';
}

/** A server that was started inside its folder names that folder in this setting. */
export const CLUSTER_SETTING = 'sluice.cluster';

/**
 * Whether the process is the server that we started on this folder, according to its command line. Root without special
 * capabilities may read it too (other facts of another user's process may be hidden in a container). Undefined when the
 * system does not report it.
 */
export async function isPostmasterOf(pid: number, cluster: string): Promise<boolean | undefined> {
  if (platform() === 'win32') return undefined;
  if (platform() !== 'linux') {
    const listed = await run('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(() => undefined);
    return listed === undefined ? undefined : listed.stdout.includes(`postgres -D ${cluster} `);
  }
  const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
  const [program = ''] = words;
  if (program === '') return undefined;
  if (basename(program) !== 'postgres') return false;
  return words[words.indexOf('-D') + 1] === cluster || words.includes(`${CLUSTER_SETTING}=${cluster}`);
}
