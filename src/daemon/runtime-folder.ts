/**
 * The folder with one socket for each running daemon of this user, named by its pid. By it `sluice status` and
 * `sluice reload` find a daemon without any option, and other commands can say where one runs.
 */
import { accessSync, constants, existsSync, lstatSync, mkdirSync, readdirSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Status } from '../service/telemetry/status.ts';
import { MAX_SOCKET_PATH_BYTES } from '../net/socket-file.ts';
import { askDaemon } from './ask.ts';
import { errorCode } from '../errors.ts';

type Host = Pick<NodeJS.Process, 'env' | 'platform' | 'getuid' | 'pid'>;

const FOLDER_MODE = 0o700;
const WRITABLE_BY_OTHERS = 0o022;
const SOCKET_NAME = /^\d+\.sock$/u;
/** The folder that systemd makes for a service with RuntimeDirectory=sluice. */
const SERVICE_FOLDER = '/run/sluice';

export interface RunningDaemon {
  readonly socket: string;
  readonly status: Status;
}

/** The path of this daemon's socket, in the first folder that can hold it; null when no private folder can be made. */
export function runtimeSocket(host: Host): string | null {
  if (host.platform === 'win32') return null;
  const fits = (socket: string): boolean => Buffer.byteLength(socket) <= MAX_SOCKET_PATH_BYTES;
  const folder = foldersOf(host).find((each) => fits(socketIn(each, host)) && makeWritable(each, host));
  return folder === undefined ? null : socketIn(folder, host);
}

const socketIn = (folder: string, { pid }: Host): string => join(folder, `${pid}.sock`);

function makeWritable(folder: string, host: Host): boolean {
  try {
    // The parents of the other folders belong to the system, and are not created.
    if (folder === ownFolder(host) || existsSync(dirname(folder)))
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    accessSync(folder, constants.W_OK);
    return isPrivate(folder, host);
  } catch {
    return false;
  }
}

/** The daemons that this user may ask. Removes the sockets of daemons that were killed. */
export async function findDaemons(host: Host): Promise<readonly RunningDaemon[]> {
  if (host.platform === 'win32') return [];
  const folders = foldersOf(host).filter((folder) => isTrusted(folder, host));
  const sockets = folders.flatMap((folder) => socketsIn(folder).map((name) => join(folder, name)));
  const found = await Promise.all(sockets.map((socket) => look(socket)));
  return found.filter((daemon) => daemon !== null);
}

async function look(socket: string): Promise<RunningDaemon | null> {
  try {
    return { socket, status: (await askDaemon(socket, 'status')) as Status };
  } catch (error) {
    if (errorCode(error) === 'ECONNREFUSED') removeDead(socket);
    return null;
  }
}

function removeDead(socket: string): void {
  try {
    unlinkSync(socket);
  } catch {
    // Another process has removed it, or this user may not.
  }
}

function ownFolder({ env, getuid }: Host): string {
  const [service = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  if (service !== '') return service;
  const session = env['XDG_RUNTIME_DIR'] ?? '';
  return session === '' ? join(tmpdir(), `sluice-${getuid?.() ?? 0}`) : join(session, 'sluice');
}

/** Also those of a session or service whose variables this process does not have. */
function foldersOf(host: Host): readonly string[] {
  const uid = host.getuid?.() ?? 0;
  const others = [join(tmpdir(), `sluice-${uid}`), `/run/user/${uid}/sluice`, SERVICE_FOLDER];
  return [...new Set([ownFolder(host), ...others])];
}

function socketsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => SOCKET_NAME.test(name));
  } catch {
    return [];
  }
}

/** In a folder that other users may write to, another program could answer as the daemon. */
function isPrivate(folder: string, { getuid }: Host): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === getuid?.() && (found.mode & WRITABLE_BY_OTHERS) === 0;
}

/** Only root can make the folder of the service. */
const isTrusted = (folder: string, host: Host): boolean => isPrivate(folder, host) || folder === SERVICE_FOLDER;
