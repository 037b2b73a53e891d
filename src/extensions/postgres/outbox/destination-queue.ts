/**
 * The queue of one destination: a connection that holds an advisory lock. The process that holds the lock sends. When
 * it or its machine dies, the server releases the lock, and another replica continues.
 */
import type pg from 'pg';
import { endConnection } from '../connection-end.ts';
import type { FailedAttempt, DestinationQueue, WaitingEntry } from '../../../component/capabilities/outbox.ts';
import type { Signal } from '../../../pdata/context.ts';
import type { Database } from '../database.ts';

const STATEMENT_TIMEOUT_MS = 30000;
/**
 * A deletion that is lost in a crash only sends an entry once more, so it does not wait for the disk. The server
 * detects half-open connections: a holder on a dead machine loses the lock within half a minute.
 */
const SESSION = `
  SET synchronous_commit = off; SET idle_in_transaction_session_timeout = 30000;
  SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`;
/** The lock key is a 64-bit hash of the destination. */
const LOCK = `SELECT pg_try_advisory_lock(hashtextextended('sluice.outbox ' || $1, 0)) AS held`;
/** The limit of a stored message of the remote. */
const MAX_ERROR_LENGTH = 2000;

/** A bare `sequence` would be ordered as text, with 10 before 9. */
const WAITING = `
  SELECT sequence::text, signal, project, records, bytes, attempts,
    (extract(epoch FROM first_attempt_at) * 1000)::float8 AS first_ms,
    (extract(epoch FROM next_attempt_at) * 1000)::float8 AS next_ms
  FROM sluice.outbox WHERE destination = $1 AND state = 'waiting' ORDER BY outbox.sequence LIMIT $2`;
const BODIES = 'SELECT body FROM sluice.outbox WHERE sequence = ANY ($1::int8[]) ORDER BY sequence';
const DELIVERED = 'DELETE FROM sluice.outbox WHERE sequence = ANY ($1::int8[])';
const FAILED = `
  UPDATE sluice.outbox SET attempts = attempts + 1, last_error = $2,
    first_attempt_at = coalesce(first_attempt_at, to_timestamp($3::float8 / 1000)), next_attempt_at = to_timestamp($4::float8 / 1000)
  WHERE sequence = ANY ($1::int8[]) AND state = 'waiting'`;
const DEAD_LETTER = `
  UPDATE sluice.outbox SET state = 'dead', attempts = attempts + 1, last_error = $2, dead_at = to_timestamp($3::float8 / 1000),
    first_attempt_at = coalesce(first_attempt_at, to_timestamp($3::float8 / 1000)), next_attempt_at = NULL
  WHERE sequence = ANY ($1::int8[]) AND state = 'waiting'`;

/** Receives changes of entries, so that the sizes stay correct between two measurements. */
export interface QueueWatcher {
  removed(entries: readonly WaitingEntry[]): void;
  deadLettered(entries: readonly WaitingEntry[]): void;
}

export class PostgresQueue implements DestinationQueue {
  readonly #database: Database;
  readonly #destination: string;
  readonly #watcher: QueueWatcher;
  #client: pg.Client | null = null;
  #held = false;

  constructor(database: Database, destination: string, watcher: QueueWatcher) {
    this.#database = database;
    this.#destination = destination;
    this.#watcher = watcher;
  }

  async acquire(): Promise<boolean> {
    if (this.#held && this.#client !== null) return true;
    if (!this.#database.isOpen) return false;
    const client = await this.#connect();
    const { rows } = await client.query<{ held: boolean }>(LOCK, [this.#destination]);
    this.#held = rows[0]?.held === true;
    return this.#held;
  }

  async waiting(limit: number): Promise<readonly WaitingEntry[]> {
    const { rows } = await this.#holder().query(WAITING, [this.#destination, limit]);
    return rows.map((row) => ({
      sequence: BigInt(row['sequence']),
      signal: row['signal'] as Signal,
      project: row['project'],
      records: row['records'],
      bytes: row['bytes'],
      attempts: row['attempts'],
      firstAttemptMs: row['first_ms'],
      nextAttemptMs: row['next_ms'],
    }));
  }

  async bodies(entries: readonly WaitingEntry[]): Promise<readonly Buffer[]> {
    const { rows } = await this.#holder().query<{ body: Buffer }>(BODIES, [sequencesOf(entries)]);
    return rows.map(({ body }) => body);
  }

  async delivered(entries: readonly WaitingEntry[]): Promise<void> {
    await this.#holder().query(DELIVERED, [sequencesOf(entries)]);
    this.#watcher.removed(entries);
  }

  async failed(entries: readonly WaitingEntry[], { nowMs, nextAttemptMs, error }: FailedAttempt): Promise<void> {
    await this.#holder().query(FAILED, [sequencesOf(entries), storable(error), nowMs, nextAttemptMs]);
  }

  async deadLetter(
    entries: readonly WaitingEntry[],
    { nowMs, error }: Omit<FailedAttempt, 'nextAttemptMs'>,
  ): Promise<void> {
    await this.#holder().query(DEAD_LETTER, [sequencesOf(entries), storable(error), nowMs]);
    this.#watcher.deadLettered(entries);
  }

  /** Ending the connection releases the lock. */
  async release(): Promise<void> {
    const client = this.#client;
    this.#forget();
    if (client !== null) await endConnection(client);
  }

  async #connect(): Promise<pg.Client> {
    if (this.#client !== null) return this.#client;
    const client = await this.#database.connect({
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      ready: (session) => session.query(SESSION),
    });
    const forget = (): void => {
      if (this.#client === client) this.#forget();
    };
    client.on('error', forget).on('end', forget);
    this.#client = client;
    return client;
  }

  #holder(): pg.Client {
    if (this.#client === null || !this.#held) throw new Error('the connection of the outbox was lost');
    return this.#client;
  }

  #forget(): void {
    this.#client = null;
    this.#held = false;
  }
}

const sequencesOf = (entries: readonly WaitingEntry[]): string[] => entries.map(({ sequence }) => String(sequence));

/** Postgres texts cannot contain U+0000. */
const storable = (text: string): string => text.replaceAll('\0', '\ufffd').slice(0, MAX_ERROR_LENGTH);
