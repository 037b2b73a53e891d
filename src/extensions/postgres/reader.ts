/**
 * Read-only queries on connections of their own, for extensions that show stored data. A connection is opened at the
 * first question and closed when it is unused. A question that is given up is cancelled on the server.
 */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import {
  type PostgresReaders,
  ReaderFailure,
  type ReaderFailureReason,
  type ReaderPool,
  type ReaderRow,
  type ReaderSettings,
} from '../../component/capabilities/postgres-reader.ts';
import { Database } from './database.ts';
import { isPassing } from './first-contact.ts';
import { QUERY_CANCELED, sqlstateOf } from './sqlstate.ts';

/** Without a free connection for this time, the question is refused. */
const WAIT_MS = 2000;
/**
 * The rows of one FETCH: the first, and the most. Between them as many as have about so many characters, which are also
 * those that are held at a time, with one more row.
 */
const FIRST_BATCH_ROWS = 25;
const MOST_BATCH_ROWS = 500;
const BATCH_CHARACTERS = 2 * 1024 * 1024;
/** How much longer than the server this side waits for the end of a statement. */
const GRACE_MS = 5000;
/** The client of a stream reads slowly; after this time the server ends the transaction. */
const IDLE_IN_TRANSACTION_MS = 60_000;
/** The reader cannot write; elsewhere this code means a standby. */
const READ_ONLY = '25006';
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
const CURSOR = 'answer';
const NAME_DIGITS = 24;
/** Length, code of a cancel request, process id, secret key. */
const CANCEL_BYTES = 16;
const CANCEL_CODE = 80877102;
const CANCEL_TIMEOUT_MS = 5000;

export class Readers implements PostgresReaders {
  readonly #database: Database;
  readonly #views: string;

  constructor(database: Database, views: string) {
    this.#database = database;
    this.#views = views;
  }

  open(settings: ReaderSettings): ReaderPool {
    const other = settings.url === '' ? null : new Database().use({ connectionString: settings.url });
    return new Reader({ database: other ?? this.#database, views: this.#views, settings });
  }
}

interface ReaderParts {
  readonly database: Database;
  readonly views: string;
  readonly settings: ReaderSettings;
}

type PlanMode = 'force_custom_plan' | 'force_generic_plan';
type Work<T> = (client: pg.PoolClient) => Promise<T>;

class Reader implements ReaderPool {
  readonly views: string;
  readonly #database: Database;
  readonly #settings: ReaderSettings;
  /** Set for each use of a connection, because a statement could have changed them. */
  readonly #prepare: string;
  #pool: pg.Pool | null = null;
  #closed = false;

  constructor({ database, views, settings }: ReaderParts) {
    this.#database = database;
    this.views = views;
    this.#settings = settings;
    this.#prepare = `SET default_transaction_read_only = on; SET statement_timeout = ${settings.timeoutMs};
      SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS}`;
  }

  async query(text: string, values: readonly unknown[] = [], signal?: AbortSignal): Promise<readonly ReaderRow[]> {
    const lease = await this.#lease(signal);
    return lease.use(async (client) => (await client.query(text, [...values])).rows).finally(() => lease.end());
  }

  async prepared(text: string, values: readonly unknown[] = [], signal?: AbortSignal): Promise<readonly ReaderRow[]> {
    const lease = await this.#lease(signal, 'force_generic_plan');
    const name = `reader_${createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)}`;
    return lease
      .use(async (client) => (await client.query({ name, text, values: [...values] })).rows)
      .finally(() => lease.end());
  }

  async *stream(
    text: string,
    values: readonly unknown[] = [],
    signal?: AbortSignal,
  ): AsyncIterable<readonly ReaderRow[]> {
    const lease = await this.#lease(signal);
    try {
      await lease.use(async (client) => {
        // `Lease.parts` limits the wait for each part: the server's limit would also count the use of the part before.
        await client.query(
          `BEGIN READ ONLY; SET LOCAL statement_timeout = ${this.#settings.timeoutMs + IDLE_IN_TRANSACTION_MS}`,
        );
        await client.query(`DECLARE ${CURSOR} NO SCROLL CURSOR FOR ${text}`, [...values]);
      });
      for (let size = FIRST_BATCH_ROWS; ; ) {
        let [rows, characters] = [0, 0];
        for await (const part of lease.parts(`FETCH ${size} FROM ${CURSOR}`, this.#settings.timeoutMs)) {
          rows += part.rows.length;
          characters += part.characters;
          yield part.rows;
        }
        if (rows < size) break;
        size = nextBatch(rows, characters);
      }
    } finally {
      await lease.endTransaction();
      lease.end();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pool = this.#pool;
    this.#pool = null;
    await pool?.end();
  }

  /** A plan for the values of a question opens only the partitions that it needs. */
  async #lease(signal: AbortSignal | undefined, plans: PlanMode = 'force_custom_plan'): Promise<Lease> {
    if (signal?.aborted === true) throw new ReaderFailure('canceled', signal.reason);
    if (this.#closed || !this.#database.isOpen) throw new ReaderFailure('away', new Error('the database is not open'));
    this.#pool ??= this.#database.createPool({
      size: this.#settings.connections,
      applicationName: this.#settings.applicationName,
      connectTimeoutMs: WAIT_MS,
      queryTimeoutMs: this.#settings.timeoutMs + GRACE_MS,
    });
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw new ReaderFailure(error instanceof Error && error.message === POOL_IS_FULL ? 'busy' : 'away', error);
    }
    const lease = new Lease(client, signal);
    try {
      await lease.use(() => client.query(`${this.#prepare}; SET plan_cache_mode = ${plans}`));
      return lease;
    } catch (error) {
      lease.end();
      throw error;
    }
  }
}

/** Some rows of a stream. */
interface Part {
  readonly rows: readonly ReaderRow[];
  readonly characters: number;
}

/** The use of one connection for one question. */
class Lease {
  readonly #client: pg.PoolClient;
  readonly #signal: AbortSignal | undefined;
  readonly #cancel = (): void => {
    this.#canceling ??= cancelStatement(this.#client);
  };
  #canceling: Promise<void> | null = null;
  /** Whether the connection may be used again. */
  #sound = true;

  constructor(client: pg.PoolClient, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
  }

  get #aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  async use<T>(work: Work<T>): Promise<T> {
    if (this.#aborted) throw this.#fail('canceled', this.#signal?.reason);
    this.#signal?.addEventListener('abort', this.#cancel, { once: true });
    try {
      return await work(this.#client);
    } catch (error) {
      const reason = this.#aborted ? 'canceled' : reasonOf(error);
      if (reason === null) throw error;
      throw this.#fail(reason, error);
    } finally {
      this.#signal?.removeEventListener('abort', this.#cancel);
    }
  }

  /**
   * The rows of a statement in parts. Rows can have megabytes, also those after many short ones, so the connection is
   * not read while a part of `BATCH_CHARACTERS` is used. Each part arrives within `timeoutMs`, or the statement fails.
   */
  async *parts(text: string, timeoutMs: number): AsyncGenerator<Part> {
    const { stream } = (this.#client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    let part: ReaderRow[] = [];
    let characters = 0;
    let wake = (): void => undefined;
    let isEnded = false;
    const ended = this.use((client) => {
      const query = Object.assign(new pg.Query(text), {
        query_timeout: timeoutMs + IDLE_IN_TRANSACTION_MS + GRACE_MS,
      });
      query.on('row', (row: ReaderRow, result) => {
        // The driver would keep all rows until the end.
        if (result !== undefined) result.rows.length = 0;
        part.push(row);
        characters += lengthOf(row);
        if (characters < BATCH_CHARACTERS) return;
        stream.pause();
        wake();
      });
      return new Promise<void>((resolve, reject) =>
        // The types of the driver have no callback for a query of its own.
        client.query(query as unknown as pg.QueryConfig, (error: Error | null) =>
          error === null ? resolve() : reject(error),
        ),
      );
    }).finally(() => {
      isEnded = true;
      wake();
    });
    ended.catch(() => undefined);
    try {
      while (!isEnded || part.length > 0) {
        if (!isEnded && characters < BATCH_CHARACTERS) {
          const late = setTimeout(this.#cancel, timeoutMs);
          await new Promise<void>((resolve) => (wake = resolve));
          clearTimeout(late);
        }
        const taken = { rows: part, characters };
        [part, characters] = [[], 0];
        if (taken.rows.length > 0) yield taken;
        stream.resume();
      }
      await ended;
    } finally {
      // The rest of the rows is not read.
      if (!isEnded) this.#sound = false;
      stream.resume();
    }
  }

  async endTransaction(): Promise<void> {
    if (!this.#sound || this.#canceling !== null) return;
    await this.#client.query('ROLLBACK').catch(() => (this.#sound = false));
  }

  /** A cancel request that is still under way must not reach the next question. */
  end(): void {
    const sound = this.#sound && this.#canceling === null;
    this.#client.release(!sound);
  }

  #fail(reason: ReaderFailureReason, cause: unknown): ReaderFailure {
    if (reason !== 'too_long') this.#sound = false;
    return new ReaderFailure(reason, cause);
  }
}

/** A batch takes one statement, whose time is limited. */
function nextBatch(rows: number, characters: number): number {
  const fitting = Math.floor((BATCH_CHARACTERS * rows) / Math.max(1, characters));
  return Math.min(MOST_BATCH_ROWS, Math.max(1, fitting));
}

function lengthOf(row: ReaderRow): number {
  let characters = 0;
  for (const value of Object.values(row)) characters += typeof value === 'string' ? value.length : 1;
  return characters;
}

/** Null: the statement itself is at fault. */
function reasonOf(error: unknown): ReaderFailureReason | null {
  const state = sqlstateOf(error);
  if (state === QUERY_CANCELED) return 'too_long';
  if (state === READ_ONLY) return null;
  return isPassing(error) || state === null ? 'away' : null;
}

/**
 * Asks the server to end the statement of this connection, as `PQcancel` does. Closing the connection would not end it:
 * the server notices that only when it writes. Never rejects.
 */
function cancelStatement(client: pg.PoolClient): Promise<void> {
  const { host, port, processID, secretKey } = client as unknown as {
    readonly host: string;
    readonly port: number;
    readonly processID: number | null;
    readonly secretKey: number | null;
  };
  if (processID === null || secretKey === null) return Promise.resolve();
  const request = Buffer.alloc(CANCEL_BYTES);
  request.writeInt32BE(CANCEL_BYTES, 0);
  request.writeInt32BE(CANCEL_CODE, 4);
  request.writeInt32BE(processID, 8);
  request.writeInt32BE(secretKey, 12);
  return new Promise((resolve) => {
    const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
    socket.setTimeout(CANCEL_TIMEOUT_MS, () => socket.destroy());
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
    socket.resume().end(request);
  });
}
