/**
 * The database's clock as this process sees it. Replicas and their devices may have any time; what is stored goes by one clock. The
 * process's monotonic clock carries a measurement on, so a step of the machine's own time changes nothing.
 */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import type { Logger } from '../../component/logger.ts';
import { Rejection } from '../../errors.ts';

/** A step of the database's clock is noticed within this time. */
const MEASURE_MS = 2000;
/** Two clocks may drift apart by so much of the time that has passed. */
const DRIFT = 0.0005;
/** A difference worth a line in the log. */
const NOTABLE_MS = 5000;
const READ_CLOCK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';

interface Reading {
  /** Unix milliseconds of the database at `atMs` of the monotonic clock, right to `errorMs`. */
  readonly databaseMs: number;
  readonly atMs: number;
  readonly errorMs: number;
}

/** Where the time is read: a question to the database, and the monotonic clock of this process. */
export interface ClockSources {
  readonly database: Pick<PostgresDatabase, 'query'>;
  monotonicMs(): number;
}

export class DatabaseClock {
  readonly #sources: ClockSources;
  #reading: Reading | null = null;
  #logger: Logger | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(sources: ClockSources) {
    this.#sources = sources;
  }

  /** Unix milliseconds. Before the first measurement nothing can be stored, so a request that needs the time is refused. */
  now(): number {
    if (this.#reading === null) throw new Rejection('ingestion_failed', { cause: 'the database was not reached yet' });
    return Math.round(this.#at(this.#reading, this.#sources.monotonicMs()));
  }

  /** Rejects when the database does not answer; then the last measurement is carried on. */
  async measure(database: Pick<PostgresDatabase, 'query'> = this.#sources.database): Promise<void> {
    const asked = this.#sources.monotonicMs();
    const { rows } = await database.query(READ_CLOCK);
    const answered = this.#sources.monotonicMs();
    this.#learn(Number(rows[0]?.['now']), asked, answered);
  }

  /** Measures again and again until it is stopped. */
  start(logger: Logger): void {
    this.stop();
    this.#logger = logger;
    this.#timer = setTimeout(() => void this.#remeasure(logger), MEASURE_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#logger = null;
  }

  async #remeasure(logger: Logger): Promise<void> {
    // A database that is away is the watch's matter.
    await this.measure().catch(() => undefined);
    if (this.#logger !== null) this.start(logger);
  }

  /** The database read its clock at some moment between question and answer. A better estimate is kept until the answer contradicts it. */
  #learn(databaseMs: number, asked: number, answered: number): void {
    const errorMs = (answered - asked) / 2;
    const measured: Reading = { databaseMs: databaseMs + errorMs, atMs: answered, errorMs };
    const known = this.#reading;
    if (known === null) {
      this.#reading = measured;
      return;
    }
    const toleranceMs = known.errorMs + (answered - known.atMs) * DRIFT;
    const difference = measured.databaseMs - this.#at(known, answered);
    if (Math.abs(difference) > NOTABLE_MS + errorMs)
      this.#logger?.warn({ seconds: Math.round(difference / 1000) }, "the database's clock was set to another time");
    if (errorMs <= toleranceMs || Math.abs(difference) > errorMs + toleranceMs) this.#reading = measured;
  }

  #at({ databaseMs, atMs }: Reading, monotonicMs: number): number {
    return databaseMs + (monotonicMs - atMs);
  }
}
