/** Determines the server's user when the daemon is root: PostgreSQL refuses to run as root. */
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import type { Identity } from './host-process.ts';

/** Used if it exists; only the operator creates it. */
const OWN_USER = 'sluice';
/** The user `nobody`, which every system has, and which other services may share. The number differs on macOS. */
const NOBODY: Identity = platform() === 'darwin' ? { uid: -2, gid: -2 } : { uid: 65534, gid: 65534 };

/** For a new database; an existing one belongs to the user of its server. */
export async function defaultUser(): Promise<Identity> {
  return findUser(await readUsers()) ?? NOBODY;
}

/** The user `sluice` in a text in the format of /etc/passwd. */
export function findUser(passwd: string): Identity | undefined {
  for (const line of passwd.split('\n')) {
    const [name, , uid = '', gid = ''] = line.split(':');
    if (name === OWN_USER && /^[1-9]\d*$/.test(uid) && /^\d+$/.test(gid)) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/** The name and number of a user, for messages. */
export async function describeUser({ uid }: Identity): Promise<string> {
  const line = (await readUsers()).split('\n').find((text) => text.split(':')[2] === String(uid));
  return line === undefined ? String(uid) : `${line.split(':')[0]} (${uid})`;
}

async function readUsers(): Promise<string> {
  return readFile('/etc/passwd', 'utf8').catch(() => '');
}
