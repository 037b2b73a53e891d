import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { firstClosed } from '../../src/extensions/postgres/embedded/server-folder.ts';

/** A user without rights, as which root runs the programs of a test. */
export const UNPRIVILEGED = 65534;
export const isRoot = process.getuid?.() === 0;

/** The options `uid` and `gid` of a child process that must not run as root; none for other users. */
export const asUnprivileged = (): { readonly uid?: number; readonly gid?: number } =>
  isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};

/** Whether that user reaches these files and the Node.js that runs them. In the home of root it does not. */
export async function canRunUnprivileged(): Promise<boolean> {
  if (!isRoot) return true;
  const identity = { uid: UNPRIVILEGED, gid: UNPRIVILEGED };
  const folders = [dirname(fileURLToPath(import.meta.url)), dirname(process.execPath)];
  const closed = await Promise.all(folders.map((folder) => firstClosed(folder, identity)));
  return closed.every((folder) => folder === undefined);
}
