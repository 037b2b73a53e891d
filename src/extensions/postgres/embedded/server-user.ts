/** As which user the server runs when the daemon is root: PostgreSQL itself refuses to be root. */
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import type { Identity } from './host.ts';

/** Used where it exists; made by the operator, never by us. */
const OWN_USER = 'sluice';
/** The user `nobody`, which every system has, and which other services may share; the number differs on macOS. */
const NOBODY: Identity = platform() === 'darwin' ? { uid: -2, gid: -2 } : { uid: 65534, gid: 65534 };

/** For a new database; an existing one belongs to the user that its server runs as. */
export async function defaultUser(): Promise<Identity> {
  return findUser(await readUsers()) ?? NOBODY;
}

/** The user `sluice` of a text in the form of /etc/passwd. */
export function findUser(passwd: string): Identity | undefined {
  for (const line of passwd.split('\n')) {
    const [name, , uid = '', gid = ''] = line.split(':');
    if (name === OWN_USER && /^[1-9]\d*$/.test(uid) && /^\d+$/.test(gid)) return { uid: Number(uid), gid: Number(gid) };
  }
  return undefined;
}

/** The name of a user, with its number, for messages. */
export async function describeUser({ uid }: Identity): Promise<string> {
  const line = (await readUsers()).split('\n').find((text) => text.split(':')[2] === String(uid));
  return line === undefined ? String(uid) : `${line.split(':')[0]} (${uid})`;
}

async function readUsers(): Promise<string> {
  return readFile('/etc/passwd', 'utf8').catch(() => '');
}
