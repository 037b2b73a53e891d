/**
 * The database's clock as measured by this process. Replicas may have different clocks, and stored times use one clock.
 * Between measurements the process's monotonic clock is added, so a step of the machine's clock has no effect.
 */
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import type { Logger } from '../../component/logger.ts';
import { Rejection } from '../../errors.ts';

/** A step of the database's clock is noticed within this time. */
const MEASURE_MS = 2000;
/** The assumed drift between two clocks, as a part of the elapsed time. */
const DRIFT = 0.0005;
/** Differences from this size on are logged. */
const NOTABLE_MS = 5000;
const READ_CLOCK = 'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now';

interface Reading {
  /** Unix milliseconds of the database at `atMs` of the monotonic clock, accurate to `errorMs`. */
  readonly databaseMs: number;
  readonly atMs: number;
  readonly errorMs: number;
}

/** The sources of the time: a query to the database, and the monotonic clock of this process. */
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

  /** Unix milliseconds. Without a measurement no request can be stored, so a request that needs the time is refused. */
  now(): number {
    if (this.#reading === null) throw new Rejection('ingestion_failed', { cause: 'the database was not reached yet' });
    return Math.round(this.#at(this.#reading, this.#sources.monotonicMs()));
  }

  /** Rejects when the database does not answer; the last measurement stays in use. */
  async measure(database: Pick<PostgresDatabase, 'query'> = this.#sources.database): Promise<void> {
    const asked = this.#sources.monotonicMs();
    const { rows } = await database.query(READ_CLOCK);
    const answered = this.#sources.monotonicMs();
    this.#learn(Number(rows[0]?.['now']), asked, answered);
  }

  /** Measures periodically until it is stopped. */
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
    // The watch handles a database that is unavailable.
    await this.measure().catch(() => undefined);
    if (this.#logger !== null) this.start(logger);
  }

  /**
   * The database read its clock between query and answer. An earlier, more accurate estimate is kept until an answer
   * contradicts it.
   */
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
