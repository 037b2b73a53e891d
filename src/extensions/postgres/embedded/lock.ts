/**
 * The claim of one daemon on one data folder, so that a second one is refused by name instead of fighting over the
 * server. It outlives nothing: a claim whose process is gone (kill -9, power loss, a removed container) is taken over.
 */
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { birthOf, EmbeddedServerError, errorCode, type HostProcess, isAlive } from './host.ts';
import { waitFor } from './wait.ts';

/** How often a claim's file is touched, for daemons on other machines or in other containers, which see no process. */
const HEARTBEAT_MS = 2_000;
/** A claim from another machine that was not touched for this long is dead. */
const SILENCE_MS = 3 * HEARTBEAT_MS;
/** A claim file that is still being written becomes readable within this time. */
const WRITE_MS = 1_000;
/** A dead claim is removed within this time, or its remover has died as well. */
const REMOVAL_MS = 5_000;
/** How often somebody who finds others at work tries again, and how long he pauses. */
const MAX_TRIES = 500;
const PAUSE_MS = 20;

interface Claim {
  readonly pid: number;
  readonly machine: string;
  readonly birth?: string;
}

export class DaemonLock {
  readonly #path: string;
  readonly #text: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#heartbeat = setInterval(() => touch(path), HEARTBEAT_MS).unref();
  }

  /** Takes the claim, or throws naming the process that holds it. */
  static async acquire(path: string, host: HostProcess): Promise<DaemonLock> {
    const birth = await birthOf(host.pid);
    const own: Claim = { pid: host.pid, machine: hostname(), ...(birth === undefined ? {} : { birth }) };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await create(path, JSON.stringify(own))) return new DaemonLock(path, JSON.stringify(own));
      const text = await readWhole(path);
      if (text === undefined) continue;
      const holder = parseClaim(text);
      if (holder !== undefined && (await isHeld(holder, path, host))) throw refusal(path, holder);
      if (!(await takeAway(path, text))) await pause(PAUSE_MS);
    }
    throw new EmbeddedServerError(`several daemons are starting on ${path} at once: start one of them only`);
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    // A machine that slept for long may find that another one took the folder over.
    if ((await readFile(this.#path, 'utf8').catch(() => '')) === this.#text) await rm(this.#path, { force: true });
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

/** True if the file was made by this call, false if it was there. */
async function create(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'EACCES' && errorCode(error) !== 'EROFS') throw error;
    throw new EmbeddedServerError(`this process may not write to ${dirname(path)}: start it as the folder's owner`);
  }
}

/**
 * Removes a dead claim if it is still the one that was judged. Removers exclude each other by a second file: without
 * it, a slow one would remove the claim that a quicker one has just made. False if somebody else is at it.
 */
async function takeAway(path: string, judged: string): Promise<boolean> {
  const guard = `${path}.removal`;
  if (!(await create(guard, ''))) {
    const made = (await stat(guard).catch(() => undefined))?.mtimeMs;
    if (made !== undefined && Date.now() - made > REMOVAL_MS) await rm(guard, { force: true });
    return false;
  }
  try {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === judged) await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

/** The file's text once it is complete, or what its writer had written when it died; undefined if there is no file. */
async function readWhole(path: string): Promise<string | undefined> {
  let text: string | undefined;
  const settled = async () => {
    text = await readFile(path, 'utf8').catch(() => undefined);
    return text === undefined || parseClaim(text) !== undefined ? true : undefined;
  };
  await waitFor(settled, { timeoutMs: WRITE_MS });
  return text;
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
