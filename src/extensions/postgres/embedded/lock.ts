/**
 * The claim of one daemon on one data folder, so that a second one is refused by name instead of fighting over the
 * server. It outlives nothing: a claim whose process is gone (kill -9, power loss, a removed container) is taken over.
 */
import { readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { birthOf, EmbeddedServerError, errorCode, type HostProcess, isAlive } from './host.ts';
import { waitFor } from './wait.ts';

/** How often a claim's file is touched, for daemons on other machines or in other containers, which see no process. */
const HEARTBEAT_MS = 2_000;
/** A claim from another machine that was not touched for this long is dead. */
const SILENCE_MS = 3 * HEARTBEAT_MS;
/** A claim file that is still being written becomes readable within this time. */
const WRITE_MS = 1_000;
/** Claims that come and go while we try: more than this many in a row is a fight we do not win. */
const MAX_TRIES = 5;

interface Claim {
  readonly pid: number;
  readonly machine: string;
  readonly birth?: string;
}

export class DaemonLock {
  readonly #path: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string) {
    this.#path = path;
    this.#heartbeat = setInterval(() => touch(path), HEARTBEAT_MS).unref();
  }

  /** Takes the claim, or throws naming the process that holds it. */
  static async acquire(path: string, host: HostProcess): Promise<DaemonLock> {
    const birth = await birthOf(host.pid);
    const own: Claim = { pid: host.pid, machine: hostname(), ...(birth === undefined ? {} : { birth }) };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      try {
        await writeFile(path, JSON.stringify(own), { flag: 'wx', mode: 0o644 });
        return new DaemonLock(path);
      } catch (error) {
        if (errorCode(error) === 'EACCES' || errorCode(error) === 'EROFS') {
          throw new EmbeddedServerError(
            `this process may not write to ${dirname(path)}: start it as the folder's owner`,
          );
        }
        if (errorCode(error) !== 'EEXIST') throw error;
      }
      const text = await readWhole(path);
      const holder = parseClaim(text);
      if (holder !== undefined && (await isHeld(holder, path, host))) throw refusal(path, holder);
      await takeAway(path, text);
    }
    throw new EmbeddedServerError(`several daemons are starting on ${path} at once: start one of them only`);
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    await rm(this.#path, { force: true });
  }
}

function refusal(path: string, holder: Claim): EmbeddedServerError {
  const where = holder.machine === hostname() ? '' : ` on ${holder.machine}`;
  return new EmbeddedServerError(
    `another daemon (pid ${holder.pid}${where}) is using this data folder (${path}): stop it first, or give this one a data_dir of its own`,
  );
}

async function isHeld(holder: Claim, path: string, host: HostProcess): Promise<boolean> {
  if (holder.machine !== hostname()) return isTouched(path);
  if (!(await isAlive(host, holder.pid))) return false;
  return holder.birth === undefined || holder.birth === (await birthOf(holder.pid));
}

/** Watches a claim from elsewhere for a sign of life. */
async function isTouched(path: string): Promise<boolean> {
  const modified = async () => (await stat(path).catch(() => undefined))?.mtimeMs;
  const before = await modified();
  const changed = async () => ((await modified()) === before ? undefined : true);
  return (await waitFor(changed, { timeoutMs: SILENCE_MS })) ?? false;
}

/** Removes a dead claim; one that another starter put in its place meanwhile is put back. */
async function takeAway(path: string, judged: string): Promise<void> {
  const aside = `${path}.stale`;
  try {
    await rename(path, aside);
    const moved = await readFile(aside, 'utf8');
    if (moved !== judged) await rename(aside, path);
    else await rm(aside, { force: true });
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The file's text once it is complete; what was left of it when its writer died, else. */
async function readWhole(path: string): Promise<string> {
  const read = () => readFile(path, 'utf8').catch(() => '');
  const complete = async () => {
    const text = await read();
    return parseClaim(text) === undefined ? undefined : text;
  };
  return (await waitFor(complete, { timeoutMs: WRITE_MS })) ?? read();
}

function parseClaim(text: string): Claim | undefined {
  try {
    const value: Partial<Claim> = JSON.parse(text);
    return typeof value.pid === 'number' && typeof value.machine === 'string' ? (value as Claim) : undefined;
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  const now = new Date();
  utimes(path, now, now).catch(() => undefined);
}
