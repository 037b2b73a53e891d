/**
 * The outbox in Postgres: entries join the ledger's transaction, one queue per destination sends them, and their sizes
 * are measured.
 */
import type { TransactionHandle } from '../../../component/capabilities/ledger.ts';
import type { Logger } from '../../../component/logger.ts';
import { type ObservedTime, TimeObserver } from '../../../component/observed-time.ts';
import type { Meter } from '../../../component/meter.ts';
import type {
  Dropped,
  Outbox,
  OutboxEntry,
  DestinationQueue,
  OutboxSize,
  WaitingEntry,
} from '../../../component/capabilities/outbox.ts';
import { joinPostgres } from '../../../component/capabilities/postgres.ts';
import type { Signal } from '../../../pdata/context.ts';
import { HOUR_MS } from '../../../pdata/time-units.ts';
import type { Database } from '../database.ts';
import { PostgresQueue } from './destination-queue.ts';
import { tuplesOf } from './tuples.ts';

/** The interval of the measurement. In between, this process counts its own changes. */
const MEASURE_MS = 10000;
const MEASURE = `
  SELECT destination, state, count(*)::float8 AS entries, sum(bytes)::float8 AS bytes,
    (extract(epoch FROM min(enqueued_at)) * 1000)::float8 AS oldest_ms
  FROM sluice.outbox WHERE destination = ANY ($1::text[]) GROUP BY destination, state`;
const FORGET_OLD = `
  DELETE FROM sluice.outbox WHERE destination = $1 AND state = 'dead' AND dead_at < to_timestamp($2::float8 / 1000)`;
/**
 * Counted from the newest entry on, so that the oldest are deleted. The state is checked again, because `sluice outbox
 * replay` may change it meanwhile.
 */
const FORGET_EXCESS = `
  DELETE FROM sluice.outbox WHERE sequence IN (
    SELECT sequence FROM (
      SELECT sequence, sum(bytes) OVER (ORDER BY sequence DESC) AS total FROM sluice.outbox WHERE destination = $1 AND state = $2
    ) AS counted WHERE total > $3::float8)
  AND state = $2
  RETURNING signal, records`;

interface Held {
  waiting: number;
  waitingBytes: number;
  dead: number;
  deadBytes: number;
  /** When the oldest waiting entry was created, by the database's clock; null without one. */
  oldestMs: number | null;
}

export class PostgresOutbox implements Outbox {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #observer = new TimeObserver();
  #observed: { readonly time: ObservedTime; readonly atMs: number } | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(database: Database, { logger, meter, now }: { logger: Logger; meter: Meter; now: () => number }) {
    this.#database = database;
    this.#logger = logger;
    this.#now = now;
    meter.gauge('sluice_outbox_entries', 'Requests that wait to be forwarded.', () =>
      this.#sum(({ waiting }) => waiting),
    );
    meter.gauge('sluice_outbox_bytes', 'Bytes of the outbox, dead letters included.', () =>
      this.#sum(({ waitingBytes, deadBytes }) => waitingBytes + deadBytes),
    );
    meter.gauge('sluice_outbox_oldest_seconds', 'Age of the oldest request that waits to be forwarded.', () =>
      this.#oldestSeconds(),
    );
    meter.gauge('sluice_outbox_dead_letters', 'Requests that a destination refused.', () =>
      this.#sum(({ dead }) => dead),
    );
  }

  now(): number {
    return this.#now();
  }

  async add(entries: readonly OutboxEntry[], handle: TransactionHandle): Promise<void> {
    if (entries.length === 0) return;
    const transaction = joinPostgres(handle);
    await transaction.copy('outbox', tuplesOf(entries), entries.length);
    // If the commit fails after this, the figure is too high until the next measurement.
    for (const { destination, bytes } of entries) {
      const held = this.#of(destination);
      held.waiting++;
      held.waitingBytes += bytes;
    }
  }

  async open(destination: string): Promise<DestinationQueue> {
    this.#of(destination);
    // Without a database no entry is added; the first measurement follows later.
    if (this.#database.isOpen) await this.measure();
    this.#timer ??= setInterval(() => void this.#look(), MEASURE_MS).unref();
    return new PostgresQueue(this.#database, destination, {
      removed: (entries) => this.#removed(destination, entries),
      deadLettered: (entries) => this.#deadLettered(destination, entries),
    });
  }

  size(destination: string): OutboxSize {
    return this.#of(destination);
  }

  async tidy(
    destination: string,
    { maxBytes, maxDeadAgeMs }: { readonly maxBytes: number; readonly maxDeadAgeMs: number },
  ): Promise<void> {
    const { dead, deadBytes, waitingBytes } = this.#of(destination);
    if (dead === 0) return;
    await this.#database.query(FORGET_OLD, [destination, (await this.#time()).cutoff(maxDeadAgeMs)]);
    if (waitingBytes + deadBytes <= maxBytes) return;
    await this.#database.query(FORGET_EXCESS, [destination, 'dead', Math.max(0, maxBytes - waitingBytes)]);
    await this.measure();
  }

  async dropOldest(destination: string, maxBytes: number): Promise<Dropped> {
    const records: Record<Signal, number> = { traces: 0, logs: 0, metrics: 0 };
    if (this.#of(destination).waitingBytes <= maxBytes) return { entries: 0, records };
    const { rows } = await this.#database.query(FORGET_EXCESS, [destination, 'waiting', maxBytes]);
    for (const row of rows) records[row['signal'] as Signal] += Number(row['records']);
    await this.measure();
    return { entries: rows.length, records };
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  async measure(): Promise<void> {
    const { rows } = await this.#database.query(MEASURE, [[...this.#held.keys()]]);
    const found = new Map<string, Held>();
    for (const row of rows) {
      const held = found.get(String(row['destination'])) ?? nothing();
      found.set(String(row['destination']), held);
      if (row['state'] === 'dead') {
        held.dead = Number(row['entries']);
        held.deadBytes = Number(row['bytes']);
      } else {
        held.waiting = Number(row['entries']);
        held.waitingBytes = Number(row['bytes']);
        held.oldestMs = Number(row['oldest_ms']);
      }
    }
    for (const destination of this.#held.keys()) this.#held.set(destination, found.get(destination) ?? nothing());
  }

  /** Observed here too, once an hour: a daemon that only forwards has no other maintenance. */
  async #time(): Promise<ObservedTime> {
    if (this.#observed === null || performance.now() - this.#observed.atMs > HOUR_MS)
      this.#observed = { time: await this.#observer.observe(this.#database), atMs: performance.now() };
    return this.#observed.time;
  }

  async #look(): Promise<void> {
    if (!this.#database.isOpen) return;
    try {
      await this.measure();
    } catch (error) {
      this.#logger.warn({ error }, 'the outbox could not be measured; trying again soon');
    }
  }

  #of(destination: string): Held {
    const held = this.#held.get(destination) ?? nothing();
    this.#held.set(destination, held);
    return held;
  }

  #removed(destination: string, entries: readonly WaitingEntry[]): void {
    const held = this.#of(destination);
    held.waiting = Math.max(0, held.waiting - entries.length);
    held.waitingBytes = Math.max(0, held.waitingBytes - bytesOf(entries));
    if (held.waiting === 0) held.oldestMs = null;
  }

  #deadLettered(destination: string, entries: readonly WaitingEntry[]): void {
    this.#removed(destination, entries);
    const held = this.#of(destination);
    held.dead += entries.length;
    held.deadBytes += bytesOf(entries);
  }

  #sum(figure: (held: Held) => number): number {
    return [...this.#held.values()].reduce((sum, held) => sum + figure(held), 0);
  }

  #oldestSeconds(): number {
    const times = [...this.#held.values()].flatMap(({ oldestMs }) => (oldestMs === null ? [] : [oldestMs]));
    return times.length === 0 ? 0 : Math.max(0, (this.#now() - Math.min(...times)) / 1000);
  }
}

const nothing = (): Held => ({ waiting: 0, waitingBytes: 0, dead: 0, deadBytes: 0, oldestMs: null });

const bytesOf = (entries: readonly WaitingEntry[]): number => entries.reduce((sum, { bytes }) => sum + bytes, 0);
