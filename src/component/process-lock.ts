/**
 * The lock of one daemon on one resource, a data directory or a file. A second daemon is refused with the name of the
 * first. A lock whose process is gone (kill -9, power failure, a removed container) is taken over. If the process is
 * visible, the process decides; if it is not (another machine, another container), the heartbeat of the lock file does.
 */
import { randomUUID } from 'node:crypto';
import { open, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { HostProcess } from './component.ts';
import { birthOf, isAlive, placeOfPids } from './process-life.ts';
import { errorCode } from '../errors.ts';

/** The interval of the heartbeat: the lock file is touched. The limits below are numbers of intervals. */
const HEARTBEAT_MS = 2_000;
/**
 * The lock of an invisible process is dead after this time without a heartbeat; longer than a blocked event loop or a
 * stalled disk.
 */
const SILENCE = 5;
/** An own lock that another process holds for this long is lost; a refused start gives the lock back sooner. */
const LOSS = 2 * SILENCE;
/** A lock file that is being written becomes readable within this time. */
const WRITE = 0.5;
/** A dead lock is removed within this time, or the process that removes it has died too. */
const REMOVAL = 2.5;
/** The number of attempts while other processes hold the lock, and the pause between them. */
const MAX_TRIES = 500;
const PAUSE_MS = 20;

/** The content of a lock file. */
interface Holder {
  readonly pid: number;
  readonly machine: string;
  /** The scope of `pid`; null when its process did not know it, left out by earlier releases. */
  readonly place?: string | null;
  readonly birth?: string;
  readonly nonce?: string;
}

export interface LockOptions {
  /** The path of the lock file. */
  readonly path: string;
  readonly host: Pick<HostProcess, 'pid' | 'kill'>;
  /** `holder` is `pid 123`, `pid 123 on another-machine`, or `pid 123 in another container …`. */
  held(holder: string): Error;
  /** The lock file cannot be created. */
  unwritable(): Error;
  /**
   * Called once when another process took the lock while this process was suspended. This process must stop its work.
   */
  lost?(holder: string): void;
  /** Called when the holder is invisible, before its heartbeat is awaited. */
  waiting?(holder: string, seconds: number): void;
  /** The interval of the heartbeat, the same in all processes. Tests have a shorter one. */
  readonly heartbeatMs?: number | undefined;
}

type Judgement = 'held' | 'dead' | 'unseen';

export class ProcessLock {
  readonly #options: LockOptions;
  readonly #text: string;
  readonly #heartbeat: NodeJS.Timeout;
  /** Since when another process has the lock, by the monotonic clock. */
  #heldByOtherSince: number | null = null;
  #released = false;
  #sending = false;

  private constructor(options: LockOptions, text: string) {
    this.#options = options;
    this.#text = text;
    this.#heartbeat = setInterval(() => void this.#sendHeartbeat(), beats(options, 1)).unref();
  }

  /** Takes the lock, or throws with the name of the process that holds it. */
  static async acquire(options: LockOptions): Promise<ProcessLock> {
    const { path, host } = options;
    const own = await ownHolder(host);
    const text = JSON.stringify(own);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      if ((await create(path, text, options)) && (await readFile(path, 'utf8').catch(() => '')) === text)
        return new ProcessLock(options, text);
      const found = await readWhole(options);
      if (found === undefined) continue;
      const holder = parseHolder(found);
      if (await isHeld(holder, own, options)) throw options.held(nameOf(holder, own));
      if (!(await removeDead(options, found))) await pause(PAUSE_MS);
    }
    throw options.held('several are starting at once');
  }

  /**
   * Throws when another process has the lock, as after a long suspension. Call it before work that only one process may
   * do.
   */
  async assertHeld(): Promise<void> {
    const found = await readFile(this.#options.path, 'utf8').catch(() => undefined);
    if (found === undefined || found === this.#text) return;
    throw this.#options.held(nameOf(parseHolder(found), await ownHolder(this.#options.host)));
  }

  async release(): Promise<void> {
    this.#released = true;
    clearInterval(this.#heartbeat);
    const { path } = this.#options;
    if ((await readFile(path, 'utf8').catch(() => '')) === this.#text) await rm(path, { force: true });
  }

  /**
   * One heartbeat at a time: on a file system that does not answer, they would block all threads of the thread pool.
   */
  async #sendHeartbeat(): Promise<void> {
    if (this.#sending) return;
    this.#sending = true;
    await this.#touchOrRestore();
    this.#sending = false;
  }

  /**
   * Sends the heartbeat. A missing lock file is created again: the process that took the lock was refused and gave it
   * back.
   */
  async #touchOrRestore(): Promise<void> {
    const { path, host } = this.#options;
    let found: string;
    try {
      found = await readFile(path, 'utf8');
    } catch (error) {
      const gone = errorCode(error) === 'ENOENT' && !this.#released;
      if (gone) await writeFile(path, this.#text, { flag: 'wx', mode: 0o644 }).catch(() => undefined);
      return;
    }
    if (this.#released) return;
    if (found === this.#text) {
      this.#heldByOtherSince = null;
      return touch(path);
    }
    this.#heldByOtherSince ??= performance.now();
    if (performance.now() - this.#heldByOtherSince < beats(this.#options, LOSS)) return;
    clearInterval(this.#heartbeat);
    this.#options.lost?.(nameOf(parseHolder(found), await ownHolder(host)));
  }
}

/** The duration of so many intervals of the heartbeat. */
function beats({ heartbeatMs = HEARTBEAT_MS }: LockOptions, count: number): number {
  return count * heartbeatMs;
}

async function ownHolder(host: LockOptions['host']): Promise<Holder> {
  const [place = null, birth] = await Promise.all([placeOfPids(), birthOf(host, host.pid)]);
  return { pid: host.pid, machine: hostname(), place, ...(birth === undefined ? {} : { birth }), nonce: randomUUID() };
}

function nameOf(holder: Holder | undefined, own: Holder): string {
  if (holder === undefined) return 'a process that is just starting';
  const { pid, machine, place } = holder;
  if (machine !== own.machine) return `pid ${pid} on ${machine}`;
  if (place === own.place || place === undefined) return `pid ${pid}`;
  return `pid ${pid} in another container or on another machine named ${machine}`;
}

async function isHeld(holder: Holder | undefined, own: Holder, options: LockOptions): Promise<boolean> {
  const judgement = holder === undefined ? 'unseen' : await judge(holder, own, options.host);
  if (judgement !== 'unseen') return judgement === 'held';
  if (holder !== undefined) options.waiting?.(nameOf(holder, own), beats(options, SILENCE) / 1000);
  return isTouched(options);
}

/** Checks the process itself, if its pid has the same meaning here. */
async function judge(holder: Holder, own: Holder, host: LockOptions['host']): Promise<Judgement> {
  // Earlier releases wrote no scope. Without a start time as well, the lock is from a system without pid namespaces.
  const plain = holder.place === undefined && holder.birth === undefined && holder.machine === own.machine;
  if (!plain && (own.place === null || holder.place !== own.place)) return 'unseen';
  if (!(await isAlive(host, holder.pid))) return 'dead';
  if (holder.birth === undefined) return 'held';
  const birth = await birthOf(host, holder.pid);
  // Its start time cannot be read here, or it has just ended.
  if (birth === undefined) return (await isAlive(host, holder.pid)) ? 'held' : 'dead';
  return birth === holder.birth ? 'held' : 'dead';
}

/** Watches a lock for a heartbeat. Compares the state of the file with its earlier state, never with a clock. */
async function isTouched(options: LockOptions): Promise<boolean> {
  const { path } = options;
  const before = await stateOf(path);
  let now = before;
  await within(beats(options, SILENCE), async () => {
    now = await stateOf(path);
    return now?.inode !== before?.inode || now?.modified !== before?.modified;
  });
  // Another file, or none, is another lock, which is judged from the beginning.
  return now !== undefined && now.inode === before?.inode && now.modified !== before.modified;
}

/** Network file systems answer `stat` from a cache, and query the server when a file is opened. */
async function stateOf(path: string): Promise<{ readonly inode: bigint; readonly modified: bigint } | undefined> {
  const handle = await open(path).catch(() => undefined);
  try {
    const found = await handle?.stat({ bigint: true });
    return found === undefined ? undefined : { inode: found.ino, modified: found.mtimeNs };
  } finally {
    await handle?.close();
  }
}

/** True if this call created the file, false if it existed. */
async function create(path: string, text: string, options: LockOptions): Promise<boolean> {
  const handle = await open(path, 'wx', 0o644).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return undefined;
    throw ['EACCES', 'EPERM'].includes(error.code ?? '') ? options.unwritable() : error;
  });
  if (handle === undefined) return false;
  try {
    await handle.writeFile(text);
    return true;
  } catch (error) {
    // A full disk: an empty lock file would only delay the next start.
    await rm(path, { force: true }).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
}

/**
 * Removes a dead lock if it is still the lock that was judged. Removers exclude each other by a second file: without
 * it, a slow one would remove the lock that a faster one has just created. False while another process removes it.
 */
async function removeDead(options: LockOptions, judged: string): Promise<boolean> {
  const { path } = options;
  const guard = `${path}.removal`;
  if (!(await create(guard, randomUUID(), options))) {
    const inode = (await stateOf(guard))?.inode;
    const finished = await within(beats(options, REMOVAL), async () => (await stateOf(guard))?.inode !== inode);
    if (!finished) await rm(guard, { force: true });
    return false;
  }
  try {
    if ((await readFile(path, 'utf8').catch(() => undefined)) === judged) await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}

/**
 * The text of the file when it is complete, or the part that its writer had written when it died; undefined without a
 * file.
 */
async function readWhole(options: LockOptions): Promise<string | undefined> {
  let text: string | undefined;
  await within(beats(options, WRITE), async () => {
    text = await readFile(options.path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw options.unwritable();
      return undefined;
    });
    return text === undefined || parseHolder(text) !== undefined;
  });
  return text;
}

/** Repeats a check until it is true. Returns false when the time is over first. */
async function within(timeoutMs: number, ask: () => Promise<boolean>): Promise<boolean> {
  for (const end = performance.now() + timeoutMs; !(await ask()); await pause(PAUSE_MS)) {
    if (performance.now() >= end) return false;
  }
  return true;
}

function parseHolder(text: string): Holder | undefined {
  try {
    const value: Partial<Holder> = JSON.parse(text);
    return typeof value.pid === 'number' && typeof value.machine === 'string' ? (value as Holder) : undefined;
  } catch {
    return undefined;
  }
}

async function touch(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}
