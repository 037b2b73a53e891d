/**
 * The connections that are open at one server, and their end: making room for a new one, waiting for the last one, forcing it
 * at a deadline. At the limit a new connection takes the place of one that is of less use, so that clients without a key, idle
 * ones and slow ones do not keep others out. What is being stored is never cut for it.
 */
import type { Socket } from 'node:net';

/** A request body that takes longer than this to arrive may lose its place. */
const SLOW_MS = 2000;

/** `new`: no request was admitted yet. `reading`: a body arrives. `working`: a request is in the pipeline. */
export type Use = 'new' | 'idle' | 'reading' | 'working';

interface Entry {
  readonly connection: Socket;
  use: Use;
  /** The project of the last admitted request. */
  holder: string;
  sinceMs: number;
}

export class OpenConnections {
  readonly #limit: number;
  readonly #open = new Map<Socket, Entry>();
  /** Those of use `new`, the oldest first. */
  readonly #new = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];

  constructor(limit = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#open.size;
  }

  /** False when there is no room: the connection is cut then. */
  add(connection: Socket): boolean {
    if (this.#open.size >= this.#limit && !this.#makeRoom()) {
      connection.destroy();
      return false;
    }
    this.#open.set(connection, { connection, use: 'new', holder: '', sinceMs: performance.now() });
    this.#new.add(connection);
    connection.once('close', () => this.#forget(connection));
    return true;
  }

  /** What the connection is used for from now on. */
  mark(connection: Socket, use: Exclude<Use, 'new'>, holder: string): void {
    const entry = this.#open.get(connection);
    if (entry === undefined) return;
    this.#new.delete(connection);
    if (use !== entry.use) entry.sinceMs = performance.now();
    entry.use = use;
    entry.holder = holder;
  }

  /** Resolves when no connection is left. */
  async ended(): Promise<void> {
    if (this.#open.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Those that never said anything are cut now, those that are left when the deadline aborts then. Works twice. */
  async endBy(deadline: AbortSignal): Promise<void> {
    for (const connection of this.#open.keys()) if (connection.bytesRead === 0) connection.destroy();
    const cut = (): void => {
      for (const connection of this.#open.keys()) connection.destroy();
    };
    if (deadline.aborted) cut();
    else deadline.addEventListener('abort', cut, { once: true });
    await this.ended();
    deadline.removeEventListener('abort', cut);
  }

  #forget(connection: Socket): void {
    this.#new.delete(connection);
    this.#open.delete(connection);
    if (this.#open.size === 0) for (const ended of this.#waiting.splice(0)) ended();
  }

  #makeRoom(): boolean {
    const [stranger] = this.#new;
    const leaving = stranger ?? this.#leastUseful();
    if (leaving === undefined) return false;
    this.#forget(leaving);
    leaving.destroy();
    return true;
  }

  /** Of the project with the most connections that may go: the one that has been idle, or slow, for longest. */
  #leastUseful(): Socket | undefined {
    const now = performance.now();
    const candidates = new Map<string, { count: number; oldest: Entry }>();
    for (const entry of this.#open.values()) {
      if (entry.use === 'working' || (entry.use === 'reading' && now - entry.sinceMs < SLOW_MS)) continue;
      const { count, oldest } = candidates.get(entry.holder) ?? { count: 0, oldest: entry };
      const older = entry.sinceMs < oldest.sinceMs ? entry : oldest;
      candidates.set(entry.holder, { count: count + 1, oldest: older });
    }
    const [most] = [...candidates.values()].sort((one, other) => other.count - one.count);
    return most?.oldest.connection;
  }
}
