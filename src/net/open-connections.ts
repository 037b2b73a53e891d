/**
 * The open connections of one server: makes room for a new one, waits for the last one, cuts the rest at a deadline. At
 * the limit a new connection replaces a less useful one, so that clients without a key, idle ones and slow ones do not
 * block others. A connection whose request is being stored is never cut for a new one.
 */
import type { Socket } from 'node:net';

/** A connection whose request body takes longer than this may be replaced. */
const SLOW_MS = 2000;

/** `new`: no request was admitted yet. `reading`: a body is being received. `working`: a request is in the pipeline. */
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
  /** Connections of use `new`, oldest first. */
  readonly #new = new Set<Socket>();
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  get count(): number {
    return this.#open.size;
  }

  /** False when there is no room; the connection is then cut. */
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

  /** Sets the current use of the connection. */
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

  /** Cuts connections without any request now, and the rest when the deadline aborts. Works twice. */
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

  /** The longest idle or slow connection of the project with the most connections that may be replaced. */
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
