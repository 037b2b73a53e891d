/**
 * Whether the database can take data now, asked for again and again: readiness must come back by itself, also where a load
 * balancer sends no request any more to a daemon that is not ready.
 */
import type { PostgresDatabase } from '../../component/postgres.ts';
import type { Logger } from '../../component/logger.ts';
import { describeFailure } from './first-contact.ts';

/** Between two questions, while all is well and while it is not. */
const CALM_MS = 5000;
const WORRIED_MS = 1000;
/** A standby answers as well, but takes nothing. */
const TAKES_DATA = "SELECT current_setting('transaction_read_only') = 'off' AS writable";

export class DatabaseWatch {
  readonly #database: PostgresDatabase;
  readonly #logger: Logger;
  /** Whether the last commit reached the database. */
  readonly #commits: () => boolean;
  #answers = true;
  /** The database answered after a commit had failed: the next request shall try. */
  #pardoned = false;
  #timer: NodeJS.Timeout | null = null;
  #stopped = true;

  constructor(database: PostgresDatabase, logger: Logger, commits: () => boolean) {
    this.#database = database;
    this.#logger = logger;
    this.#commits = commits;
  }

  get healthy(): boolean {
    return this.#answers && (this.#pardoned || this.#commits());
  }

  start(): void {
    this.#stopped = false;
    this.#askLater();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #askLater(): void {
    if (this.#stopped) return;
    const calm = this.#answers && this.#commits();
    this.#timer = setTimeout(() => void this.#ask(), calm ? CALM_MS : WORRIED_MS);
    this.#timer.unref();
  }

  async #ask(): Promise<void> {
    const committed = this.#commits();
    try {
      const { rows } = await this.#database.query(TAKES_DATA);
      if (rows[0]?.['writable'] !== true) throw new Error('the server is read-only');
      this.#pardoned = !committed;
      this.#turn(true, {});
    } catch (error) {
      this.#turn(false, { error: describeFailure(error) });
    }
    this.#askLater();
  }

  #turn(answers: boolean, fields: object): void {
    if (this.#stopped || answers === this.#answers) return;
    this.#answers = answers;
    if (answers) this.#logger.info(fields, 'the database takes data again');
    else this.#logger.warn(fields, 'the database takes no data: requests are answered 503 until it does again');
  }
}
