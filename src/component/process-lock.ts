/**
 * The claim of one daemon on one thing, such as a data folder or a file, so that a second one is refused by name instead of
 * fighting over it. It outlives nothing: a claim whose process is gone (kill -9, power loss, a removed container) is taken over.
 */
import { readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostProcess } from './component.ts';
import { birthOf, isAlive } from './process-life.ts';

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

/** What the claim is about, in the words of who takes it. */
export interface LockPlace {
  readonly path: string;
  readonly host: Pick<HostProcess, 'pid' | 'kill'>;
  /** `holder` is `pid 123`, or `pid 123 on another-machine`. */
  held(holder: string): Error;
  /** The claim's file can not be made. */
  unwritable(): Error;
}

export class ProcessLock {
  readonly #path: string;
  readonly #text: string;
  readonly #heartbeat: NodeJS.Timeout;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
    this.#heartbeat = setInterval(() => touch(path), HEARTBEAT_MS).unref();
  }

  /** Takes the claim, or throws naming the process that holds it. */
  static async acquire(place: LockPlace): Promise<ProcessLock> {
    const { path, host } = place;
    const birth = await birthOf(host.pid);
    const own: Claim = { pid: host.pid, machine: hostname(), ...(birth === undefined ? {} : { birth }) };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if (await create(path, JSON.stringify(own), place)) return new ProcessLock(path, JSON.stringify(own));
      const text = await readWhole(path);
      if (text === undefined) continue;
      const holder = parseClaim(text);
      if (holder !== undefined && (await isHeld(holder, path, host))) throw place.held(nameOf(holder));
      if (!(await takeAway(place, text))) await pause(PAUSE_MS);
    }
    throw place.held('several are starting at once');
  }

  async release(): Promise<void> {
    clearInterval(this.#heartbeat);
    // A machine that slept for long may find that another one took the folder over.
    if ((await readFile(this.#path, 'utf8').catch(() => '')) === this.#text) await rm(this.#path, { force: true });
  }
}

function nameOf({ pid, machine }: Claim): string {
  return `pid ${pid}${machine === hostname() ? '' : ` on ${machine}`}`;
}

async function isHeld(holder: Claim, path: string, host: LockPlace['host']): Promise<boolean> {
  if (holder.machine !== hostname()) return isTouched(path);
  if (!(await isAlive(host, holder.pid))) return false;
  return holder.birth === undefined || holder.birth === (await birthOf(holder.pid));
}

/** Watches a claim from elsewhere for a sign of life. */
async function isTouched(path: string): Promise<boolean> {
  const modified = async () => (await stat(path).catch(() => undefined))?.mtimeMs;
  const before = await modified();
  return within(SILENCE_MS, async () => (await modified()) !== before);
}

/** True if the file was made by this call, false if it was there. */
async function create(path: string, text: string, place: LockPlace): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o644 });
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    throw ['EACCES', 'EPERM', 'EROFS'].includes(code) ? place.unwritable() : error;
  }
}

/**
 * Removes a dead claim if it is still the one that was judged. Removers exclude each other by a second file: without
 * it, a slow one would remove the claim that a quicker one has just made. False if somebody else is at it.
 */
async function takeAway(place: LockPlace, judged: string): Promise<boolean> {
  const { path } = place;
  const guard = `${path}.removal`;
  if (!(await create(guard, '', place))) {
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
  await within(WRITE_MS, async () => {
    text = await readFile(path, 'utf8').catch(() => undefined);
    return text === undefined || parseClaim(text) !== undefined;
  });
  return text;
}

/** Asks again and again; false when the time is over first. */
async function within(timeoutMs: number, ask: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; !(await ask()); await pause(PAUSE_MS)) {
    if (performance.now() >= end) return false;
  }
  return true;
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
