/**
 * Runs a command of Sluice that changes the lake once in an interval, in a process of its own. The time of the last run
 * is in the database, so that one of several daemons starts it; the command itself excludes a second run. A run that
 * failed, or whose end is unknown, is repeated after a pause. Erasures in the lake do not wait for the interval.
 */
import { LAKE_LOCK } from './archived-day.ts';
import type { OwnCommands } from './capabilities/own-commands.ts';
import type { PostgresDatabase, Statement } from './capabilities/postgres.ts';
import type { Logger } from './logger.ts';
import { SECOND_MS } from '../pdata/time-units.ts';

export interface ScheduledCommand {
  /** The name of its row in `sluice.maintenance_state`. */
  readonly name: string;
  /** The command and its arguments. It prints the files that it made as JSON. */
  readonly words: readonly string[];
  readonly intervalMs: number;
  /** Where it writes, for the log. */
  readonly to: string;
  /** A query with the column `due`: whether a run has anything to do. Left out: always. */
  readonly due?: Statement;
  /** Lines of the log. */
  readonly messages: Readonly<Record<'begun' | 'progress' | 'complete' | 'failed', string>>;
}

/** The interval of the checks whether a run is due. */
const TICK_MS = 600_000;
/** The pause after a run that failed. */
const RETRY_MS = 1_800_000;
/**
 * The lock is that of the command. The time is read once it is held: of two claims, the first to begin can be the
 * second to get the lock. A clock that was set back does not delay a run for longer than the interval.
 */
const CLAIM = `
  WITH free AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(${LAKE_LOCK}) AS is_free, extract(epoch FROM clock_timestamp())::float8 AS now)
  INSERT INTO sluice.maintenance_state AS m SELECT $3, jsonb_build_object('started', now, 'complete', false) FROM free WHERE is_free
  ON CONFLICT (name) DO UPDATE
  SET state = m.state || excluded.state || jsonb_build_object('repeated', NOT (m.state ->> 'complete')::bool)
  WHERE (m.state ->> 'started')::float8 > (excluded.state ->> 'started')::float8
    OR (m.state ->> 'started')::float8 + CASE WHEN (m.state ->> 'complete')::bool AND NOT EXISTS (SELECT FROM sluice.lake_erasures) THEN $1::float8 ELSE $2::float8 END
      <= (excluded.state ->> 'started')::float8
  RETURNING (m.state ->> 'repeated')::bool AS repeated`;
const COMPLETE = `
  UPDATE sluice.maintenance_state
  SET state = state || jsonb_build_object('complete', true, 'succeeded', extract(epoch FROM now())::float8) WHERE name = $1`;
const AGE = `
  SELECT extract(epoch FROM now())::float8 - (state ->> 'succeeded')::float8 AS seconds
  FROM sluice.maintenance_state WHERE name = $1`;

interface File {
  readonly records: number;
  readonly bytes: number;
}

export class CommandSchedule {
  readonly #database: PostgresDatabase;
  readonly #commands: OwnCommands;
  readonly #command: ScheduledCommand;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #tick: Promise<void> = Promise.resolve();
  /** The end of the last complete run, by `performance.now()`. Until it is known: the start of this schedule. */
  #succeededMs = performance.now();
  #isRunning = false;

  constructor(database: PostgresDatabase, commands: OwnCommands, command: ScheduledCommand, logger: Logger) {
    this.#database = database;
    this.#commands = commands;
    this.#command = command;
    this.#logger = logger;
  }

  /** Seconds since a run was complete. */
  get ageSeconds(): number {
    return (performance.now() - this.#succeededMs) / SECOND_MS;
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  start(): void {
    if (this.#stopped.signal.aborted) return;
    this.#tick = this.#runIfDue().finally(() => {
      if (!this.#stopped.signal.aborted) this.#timer = setTimeout(() => this.start(), TICK_MS).unref();
    });
  }

  /** Ends a run. The next one repeats its job. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#tick;
  }

  /** Never rejects. */
  async #runIfDue(): Promise<void> {
    const { name, intervalMs, messages } = this.#command;
    try {
      await this.#readAge();
      const claim = await this.#database.query(CLAIM, [intervalMs / SECOND_MS, RETRY_MS / SECOND_MS, name]);
      if (claim.rowCount !== 1) return;
      this.#isRunning = true;
      // An interrupted run may have left temporary files.
      if (claim.rows[0]?.['repeated'] === true || (await this.#hasWork())) await this.#run();
      await this.#database.query(COMPLETE, [name]);
      await this.#readAge();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#logger.warn({ error }, messages.failed);
    } finally {
      this.#isRunning = false;
    }
  }

  async #hasWork(): Promise<boolean> {
    const { due } = this.#command;
    return due === undefined || (await this.#database.query(due.text, due.values)).rows[0]?.['due'] === true;
  }

  async #run(): Promise<void> {
    const { name, words, to, messages } = this.#command;
    this.#logger.info({ to }, messages.begun);
    const began = performance.now();
    const printed = await this.#commands.run([...words, '--json'], {
      signal: this.#stopped.signal,
      line: (text) => this.#logger.info({ [name]: text }, messages.progress),
    });
    const files = JSON.parse(printed) as readonly File[];
    const sum = (field: keyof File): number => files.reduce((total, file) => total + file[field], 0);
    const seconds = Math.round((performance.now() - began) / SECOND_MS);
    this.#logger.info(
      { files: files.length, records: sum('records'), bytes: sum('bytes'), seconds },
      messages.complete,
    );
  }

  async #readAge(): Promise<void> {
    const { rows } = await this.#database.query(AGE, [this.#command.name]);
    const seconds = rows[0]?.['seconds'] ?? null;
    if (seconds !== null) this.#succeededMs = performance.now() - Math.max(0, Number(seconds)) * SECOND_MS;
  }
}
