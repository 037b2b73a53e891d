/**
 * Runs `sluice archive` once in an interval, in a process of its own. The time of the last run is in the database, so
 * that one of several daemons starts it; the command itself excludes a second run. A run that fails, or of which the
 * end is unknown, is repeated after a pause. Records that are to be erased in the archive do not wait for the interval.
 */
import type { OwnCommands } from '../../component/capabilities/own-commands.ts';
import type { PostgresDatabase } from '../../component/capabilities/postgres.ts';
import type { Logger } from '../../component/logger.ts';

export interface ArchiveOptions {
  /** Empty: nothing is archived. */
  readonly to: string;
  /** In milliseconds. */
  readonly older_than: number;
  /** Left out: files stay. */
  readonly keep?: number;
  readonly interval: number;
  readonly memory: number;
}

/** How often the database is asked whether a run is due. */
const TICK_MS = 600_000;
/** After a run that failed. */
const RETRY_MS = 1_800_000;
const SECOND_MS = 1_000;
/**
 * The lock is that of the command. The time is read once it is held: of two claims, the first to begin can be the
 * second to get the lock. A clock that was set back does not delay a run for longer than the interval.
 */
const CLAIM = `
  WITH free AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock(hashtext('sluice.archive')) AS is_free, extract(epoch FROM clock_timestamp())::float8 AS now)
  INSERT INTO sluice.maintenance_state AS m SELECT 'archive', jsonb_build_object('started', now, 'complete', false) FROM free WHERE is_free
  ON CONFLICT (name) DO UPDATE SET state = m.state || excluded.state
  WHERE (m.state ->> 'started')::float8 > (excluded.state ->> 'started')::float8
    OR (m.state ->> 'started')::float8 + CASE WHEN (m.state ->> 'complete')::bool AND NOT EXISTS (SELECT FROM sluice.lake_erasures) THEN $1::float8 ELSE $2::float8 END
      <= (excluded.state ->> 'started')::float8`;
const COMPLETE = `
  UPDATE sluice.maintenance_state
  SET state = state || jsonb_build_object('complete', true, 'succeeded', extract(epoch FROM now())::float8) WHERE name = 'archive'`;
const AGE = `
  SELECT extract(epoch FROM now())::float8 - (state ->> 'succeeded')::float8 AS seconds
  FROM sluice.maintenance_state WHERE name = 'archive'`;

interface File {
  readonly records: number;
  readonly bytes: number;
}

export class ArchiveRuns {
  readonly #database: PostgresDatabase;
  readonly #commands: OwnCommands;
  readonly #options: ArchiveOptions;
  readonly #logger: Logger;
  readonly #stopped = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #tick: Promise<void> = Promise.resolve();
  /** Of the last complete run, by `performance.now()`; before it is known, this process began to watch. */
  #succeededMs = performance.now();
  #isRunning = false;

  constructor(database: PostgresDatabase, commands: OwnCommands, options: ArchiveOptions, logger: Logger) {
    this.#database = database;
    this.#commands = commands;
    this.#options = options;
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
    try {
      await this.#readAge();
      const { interval } = this.#options;
      const { rowCount } = await this.#database.query(CLAIM, [interval / SECOND_MS, RETRY_MS / SECOND_MS]);
      if (rowCount !== 1) return;
      this.#isRunning = true;
      await this.#run();
      await this.#database.query(COMPLETE);
      await this.#readAge();
    } catch (error) {
      if (this.#stopped.signal.aborted) return;
      this.#logger.warn({ error }, 'the archive failed and is tried again; days that are not archived are kept');
    } finally {
      this.#isRunning = false;
    }
  }

  async #run(): Promise<void> {
    this.#logger.info({ to: this.#options.to }, 'archiving the days that have ended');
    const began = performance.now();
    const printed = await this.#commands.run(['archive', '--json'], {
      signal: this.#stopped.signal,
      line: (text) => this.#logger.info({ archive: text }, 'archiving'),
    });
    const files = JSON.parse(printed) as readonly File[];
    const sum = (field: keyof File): number => files.reduce((total, file) => total + file[field], 0);
    const seconds = Math.round((performance.now() - began) / SECOND_MS);
    this.#logger.info(
      { files: files.length, records: sum('records'), bytes: sum('bytes'), seconds },
      'the archive is complete',
    );
  }

  async #readAge(): Promise<void> {
    const { rows } = await this.#database.query(AGE);
    const seconds = rows[0]?.['seconds'] ?? null;
    if (seconds !== null) this.#succeededMs = performance.now() - Math.max(0, Number(seconds)) * SECOND_MS;
  }
}
