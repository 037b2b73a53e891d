/**
 * Whether the database can take data now. One question a second, on the connection that also listens for changes. A lookup or a
 * commit that fails raises a doubt, which a new connection and a trial write settle at once. Recovery needs no traffic: a load
 * balancer sends no request to a daemon that is not ready.
 */
import type { Logger } from '../../component/logger.ts';
import type { Announcements } from './announcements.ts';
import { endConnection } from './connection-end.ts';
import type { Database } from './database.ts';
import { describeFailure } from './first-contact.ts';
import { presenceAfter } from './presence.ts';

/** Between two questions. */
const PAUSE_MS = 1000;
/** A server that takes longer for the smallest question has stopped to work. */
const ANSWER_TIMEOUT_MS = 2000;
const TRIAL_TIMEOUT_MS = 5000;
/** A trial that succeeded answers the doubts of this time. */
const TRIAL_LIFE_MS = 1000;
/** After commits have failed for a reason that no trial shows, readiness stays off for this long, ever longer up to the second figure. */
const FIRST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 30000;
/** A standby answers as well, but takes nothing. */
const TAKES_DATA = "SELECT current_setting('transaction_read_only') = 'off' AS writable";
/** Enough to need new pages of the disk. It leaves nothing behind. */
const TRIAL_WRITE = `
  BEGIN;
  CREATE TABLE sluice.trial_write (filler text);
  ALTER TABLE sluice.trial_write ALTER COLUMN filler SET STORAGE EXTERNAL;
  INSERT INTO sluice.trial_write SELECT repeat('x', 1048576);
  ROLLBACK`;
const QUERY_CANCELED = '57014';

interface Check {
  readonly thorough: boolean;
  readonly ended: Promise<void>;
}

export class DatabaseWatch {
  readonly #database: Database;
  readonly #line: Announcements;
  readonly #logger: Logger;
  /** Before the first contact there is no database that could take data. */
  #away = true;
  /** A doubt that no thorough check has settled. */
  #doubted = false;
  /** Times in a row that commits failed and readiness was held off. */
  #holds = 0;
  #heldUntilMs = 0;
  #lastTrialMs = Number.NEGATIVE_INFINITY;
  #awaySinceMs = 0;
  #check: Check | null = null;
  #timer: NodeJS.Timeout | null = null;
  #started = false;
  #stopped = false;

  constructor(database: Database, line: Announcements, logger: Logger) {
    this.#database = database;
    this.#line = line;
    this.#logger = logger;
    line.onLost(() => void this.#ask(false));
  }

  /** Whether it is known that the database takes no data. */
  get away(): boolean {
    return this.#away;
  }

  get healthy(): boolean {
    return !this.#away && !this.#isHeld;
  }

  get #isHeld(): boolean {
    return this.#holds > 0 && (this.#doubted || performance.now() < this.#heldUntilMs);
  }

  /** After the first contact. */
  async start(): Promise<void> {
    this.#started = true;
    this.#away = false;
    await this.#ask(false);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** Whether a question has failed because the database is away. Where the failure does not tell, the database is asked. */
  async isAwayAfter(error: unknown): Promise<boolean> {
    const presence = presenceAfter(error);
    if (this.#away || presence === 'there') return this.#away;
    const asked = this.#doubt();
    if (presence === 'away') return true;
    await asked;
    return this.#away;
  }

  /** A group was committed. */
  committed(): void {
    this.#holds = 0;
    this.#heldUntilMs = 0;
  }

  /** A group was not committed, and not for what is in it. Groups that fail during a hold do not lengthen it. */
  commitFailed(): void {
    const nowMs = performance.now();
    if (nowMs >= this.#heldUntilMs) {
      this.#heldUntilMs = nowMs + Math.min(FIRST_HOLD_MS * 2 ** this.#holds, LONGEST_HOLD_MS);
      this.#holds++;
    }
    void this.#doubt();
  }

  async #doubt(): Promise<void> {
    if (performance.now() - this.#lastTrialMs >= TRIAL_LIFE_MS) await this.#ask(true);
  }

  /** Checks are made one after the other; one that runs answers those that ask for no more than it does. */
  async #ask(thorough: boolean): Promise<void> {
    if (this.#stopped || !this.#started) return;
    if (thorough) this.#doubted = true;
    const running = this.#check;
    if (running !== null) {
      await running.ended;
      if (running.thorough || !thorough || this.#away) return;
      return this.#ask(true);
    }
    const check = { thorough: this.#doubted, ended: this.#run(this.#doubted) };
    this.#check = check;
    await check.ended;
  }

  async #run(thorough: boolean): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    try {
      requireWritable(await this.#line.ask(TAKES_DATA, ANSWER_TIMEOUT_MS));
      if (thorough) await this.#tryToWrite();
      this.#present();
    } catch (error) {
      this.#absent(error);
    }
    this.#check = null;
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.#ask(this.#isHeld), PAUSE_MS);
    this.#timer.unref();
  }

  async #tryToWrite(): Promise<void> {
    const client = await this.#database.connect({
      connectTimeoutMs: ANSWER_TIMEOUT_MS,
      statementTimeoutMs: TRIAL_TIMEOUT_MS,
      readyTimeoutMs: TRIAL_TIMEOUT_MS,
      ready: async (session) => {
        const { rows } = await session.query(TAKES_DATA);
        requireWritable(rows[0]);
        await session.query(TRIAL_WRITE).catch(refuseUnlessRefused);
      },
    });
    await endConnection(client);
    this.#lastTrialMs = performance.now();
    this.#doubted = false;
  }

  #present(): void {
    if (this.#stopped || !this.#away) return;
    this.#away = false;
    // The reason why commits failed was seen, and is gone: no hold is needed.
    this.committed();
    const seconds = Math.round((performance.now() - this.#awaySinceMs) / 1000);
    this.#logger.info({ seconds }, 'the database takes data again');
  }

  #absent(error: unknown): void {
    if (this.#stopped || this.#away) return;
    this.#away = true;
    this.#awaySinceMs = performance.now();
    this.#logger.warn(
      { error: describeFailure(error) },
      'the database takes no data: requests are answered 503 until it does again',
    );
  }
}

function requireWritable(row: Readonly<Record<string, unknown>> | undefined): void {
  if (row?.['writable'] !== true) throw new Error('the server is read-only');
}

/** A server that refuses the trial by a rule of its own, such as a missing right, is there; rows may be another matter. */
function refuseUnlessRefused(error: unknown): void {
  const { code } = error as { readonly code?: unknown };
  if (presenceAfter(error) !== 'there' || code === QUERY_CANCELED) throw error;
}
