/**
 * The state of the database files. Only an absent database is created. Anything else is left unchanged, and the start
 * fails with a description and a remedy.
 */
import { lstat, open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServerFolder } from './server-folder.ts';
import { EmbeddedServerError } from './host-process.ts';
import type { Runtime } from './runtime.ts';
import { errorCode } from '../../../errors.ts';

/** Written when the database files are complete: files that are missing later are a loss, not a first start. */
export const COMPLETE_MARK = 'database-made';
/** The name that earlier releases gave to files that they did not recognise. */
const PUT_ASIDE = 'cluster.unusable-';
const CONTROL_FILE = 'global/pg_control';
/** Files that every database has. */
const PARTS = ['base', 'pg_wal', 'pg_xact', 'pg_multixact', 'postgresql.conf', 'pg_hba.conf'];
/** The offset of `pg_control_version`: the major version times 100, when the format changed with it. */
const CONTROL_VERSION_OFFSET = 8;
const CONTROL_MAJORS: ReadonlyMap<number, string> = new Map([
  [1300, '13, 14, 15 or 16'],
  [1700, '17'],
  [1800, '18'],
]);
const RESTORE = 'restore the folder from a backup (docs/operations.md, Backup)';

/** True if there are database files, intact or not; false at a first start. Throws when neither is certain. */
export async function clusterExists(serverFolder: ServerFolder): Promise<boolean> {
  const { cluster } = serverFolder;
  const found = await lstat(cluster).catch(ifAbsent);
  if (found === undefined) return refuseLoss(serverFolder, `${cluster} is not there`);
  const target = await stat(cluster).catch(ifAbsent);
  if (target === undefined) {
    throw new EmbeddedServerError(
      `${cluster} is a link to a folder that does not exist: mount the disk it is on, or ${RESTORE}`,
    );
  }
  if (!target.isDirectory()) throw foreign(cluster, 'is not a folder');
  const names = await readdir(cluster);
  if (names.length === 0) return refuseLoss(serverFolder, `${cluster} is empty`);
  const control = await stat(join(cluster, CONTROL_FILE)).catch(ifAbsent);
  const version = await readVersion(cluster);
  if (control === undefined && version === undefined) throw foreign(cluster, 'holds no PostgreSQL database');
  return true;
}

/** Refuses files of another major version, which this server cannot read, and damaged or incomplete files. */
export async function checkVersion({ cluster }: ServerFolder, runtime: Runtime): Promise<void> {
  const version = await readVersion(cluster);
  const control = await readControlVersion(cluster);
  if (version === String(runtime.major)) {
    if (control === undefined) throw damaged(cluster, `${CONTROL_FILE} is missing or cut off`);
    await checkParts(cluster);
    return;
  }
  if (version !== undefined && /^[1-9]\d?(\.\d)?$/.test(version)) {
    throw new EmbeddedServerError(
      `the database in ${cluster} was made by PostgreSQL ${version}, and this release contains ${runtime.version}, which cannot read it. Nothing was changed: dump it with PostgreSQL ${version} and restore it into a new data_dir (docs/operations.md, "A new PostgreSQL"), or serve it with a PostgreSQL ${version} of your own and set extensions.postgres.url`,
    );
  }
  const made = CONTROL_MAJORS.get(control ?? 0);
  const what = version === undefined ? 'is missing' : `holds ${JSON.stringify(version.slice(0, 20))}`;
  const repair =
    made === String(runtime.major)
      ? `by ${CONTROL_FILE} it was made by PostgreSQL ${made}: write that number into the file with \`echo ${made} > ${join(cluster, 'PG_VERSION')}\`, or ${RESTORE}`
      : `by ${CONTROL_FILE} (version ${control ?? 'unreadable'}) it was made by ${made === undefined ? 'an unknown PostgreSQL' : `PostgreSQL ${made}`}: ${RESTORE}`;
  throw new EmbeddedServerError(
    `the database in ${cluster} is damaged: its PG_VERSION ${what}. Nothing was changed; ${repair}`,
  );
}

/**
 * Without some of these the server does not end by itself. Without the others it ends with a message that names no
 * remedy.
 */
async function checkParts(cluster: string): Promise<void> {
  for (const name of PARTS) {
    if ((await stat(join(cluster, name)).catch(ifAbsent)) !== undefined) continue;
    const isLink = (await lstat(join(cluster, name)).catch(ifAbsent)) !== undefined;
    throw damaged(cluster, isLink ? `${name} is a link to a missing file or folder` : `${name} is missing`);
  }
}

const damaged = (cluster: string, what: string): EmbeddedServerError =>
  new EmbeddedServerError(`the database in ${cluster} is damaged: ${what}. Nothing was changed: ${RESTORE}`);

/** A lost database is not created again automatically: its disk may not be mounted. */
async function refuseLoss({ path: folder, cluster }: ServerFolder, what: string): Promise<false> {
  const mark = join(folder, COMPLETE_MARK);
  const names = await readdir(folder).catch((): string[] => []);
  const aside = names.filter((name) => name.startsWith(PUT_ASIDE));
  if (aside.length > 0) {
    throw new EmbeddedServerError(
      `${what}, but an earlier release put a database aside as ${join(folder, aside.sort().at(-1) ?? '')}: give it the name ${cluster}, or move it out of ${folder} to begin with an empty database`,
    );
  }
  if ((await lstat(mark).catch(ifAbsent)) === undefined) return false;
  throw new EmbeddedServerError(
    `${what}, although a database was made here: mount the disk it is on, or ${RESTORE}. To begin with an empty database, remove ${mark}`,
  );
}

function foreign(cluster: string, what: string): EmbeddedServerError {
  return new EmbeddedServerError(
    `${cluster} ${what}, and Sluice keeps its database there. Nothing was changed: move it away, or set another data_dir; if it was a database, ${RESTORE}`,
  );
}

async function readVersion(cluster: string): Promise<string | undefined> {
  const path = join(cluster, 'PG_VERSION');
  if ((await stat(path).catch(ifAbsent))?.isFile() !== true) return undefined;
  return (await readFile(path, 'utf8')).trim();
}

async function readControlVersion(cluster: string): Promise<number | undefined> {
  const handle = await open(join(cluster, CONTROL_FILE)).catch(ifAbsent);
  try {
    const { bytesRead = 0, buffer } = (await handle?.read(Buffer.alloc(4), 0, 4, CONTROL_VERSION_OFFSET)) ?? {};
    return bytesRead < 4 ? undefined : buffer?.readUInt32LE();
  } finally {
    await handle?.close();
  }
}

function ifAbsent(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR') throw error;
}
