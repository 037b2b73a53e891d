/**
 * A plain client of the daemon's database, which commits one row at a time at a constant rate: what the server gives
 * any client beside other work.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { databaseIn } from './daemon-database.ts';

/** About the row of a small span. */
const ROW_BYTES = 300;
const CONNECTIONS = 4;

export class DirectCommits {
  readonly #pool: pg.Pool;
  readonly #intervalMs: number;
  readonly #running: Promise<void>;
  #times: number[] = [];
  #ended = false;

  private constructor(pool: pg.Pool, intervalMs: number) {
    this.#pool = pool;
    this.#intervalMs = intervalMs;
    this.#running = this.#commit();
  }

  static async open(dataFolder: string, intervalMs: number): Promise<DirectCommits> {
    const pool = new pg.Pool({ ...(await databaseIn(dataFolder)), max: CONNECTIONS });
    await pool.query('CREATE TABLE public.direct_commits (id bytea PRIMARY KEY, content bytea NOT NULL)');
    return new DirectCommits(pool, intervalMs);
  }

  /** Milliseconds of each commit since `clear`. */
  get times(): readonly number[] {
    return this.#times;
  }

  clear(): void {
    this.#times = [];
  }

  async close(): Promise<void> {
    this.#ended = true;
    await this.#running;
    await this.#pool.end();
  }

  async #commit(): Promise<void> {
    const work: Promise<void>[] = [];
    while (!this.#ended) {
      work.push(this.#insert());
      await new Promise((resolve) => setTimeout(resolve, this.#intervalMs));
    }
    await Promise.all(work);
  }

  async #insert(): Promise<void> {
    const started = performance.now();
    const values = [randomBytes(16), randomBytes(ROW_BYTES)];
    await this.#pool.query('INSERT INTO public.direct_commits VALUES ($1, $2)', values);
    this.#times.push(performance.now() - started);
  }
}
