/**
 * Monitors whether the database accepts writes: one query per second, on the connection that listens for changes. After
 * a failed lookup or commit a new connection and a trial write check it at once. Recovery needs no traffic: a load
 * balancer sends no request to a daemon that is not ready.
 */
import type { Logger } from '../../component/logger.ts';
import type { Announcements } from './announcements.ts';
import { endConnection } from './connection-end.ts';
import type { Database } from './database.ts';
import { describeFailure, remedyFor } from './first-contact.ts';
import { availabilityAfter } from './availability.ts';
import { QUERY_CANCELED } from './sqlstate.ts';
import { errorCode } from '../../errors.ts';

/** The pause between two queries. */
const PAUSE_MS = 1000;
/** A server that takes longer for the smallest query is not working. */
const ANSWER_TIMEOUT_MS = 2000;
const TRIAL_TIMEOUT_MS = 5000;
/** No other trial is made for this time after a successful one. */
const TRIAL_LIFE_MS = 1000;
/**
 * After commits failed for a reason that no trial shows, the daemon is not ready for this time, which grows up to the
 * second value.
 */
const FIRST_HOLD_MS = 1000;
const LONGEST_HOLD_MS = 30000;
/** A standby answers too, but accepts no writes. */
const TAKES_DATA = "SELECT current_setting('transaction_read_only') = 'off' AS writable";
/**
 * Commits that wait for a synchronous standby, of sessions of this role. A trial commit would wait as well, and its
 * session would stay until the standby returns: the server ends no such wait when its client has gone.
 */
const WAITING_COMMITS = `
  SELECT EXISTS (
    SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query_start < clock_timestamp() - interval '2 s'
  ) AS found`;
/** Large enough to need new disk pages. It is rolled back. */
const TRIAL_WRITE = `
  BEGIN;
  CREATE TABLE sluice.trial_write (filler text);
  ALTER TABLE sluice.trial_write ALTER COLUMN filler SET STORAGE EXTERNAL;
  INSERT INTO sluice.trial_write SELECT repeat('x', 1048576);
  ROLLBACK`;

interface Check {
  readonly thorough: boolean;
  readonly ended: Promise<void>;
}

export class DatabaseWatch {
  readonly #database: Database;
  readonly #line: Announcements;
  readonly #logger: Logger;
  /** Before the first contact no database accepts writes. */
  #unavailable = true;
  /** Whether a failure was reported that no thorough check has followed yet. */
  #doubted = false;
  /** How many times in a row commits failed and readiness was held off. */
  #holds = 0;
  #heldUntilMs = 0;
  #lastTrialMs = Number.NEGATIVE_INFINITY;
  #unavailableSinceMs = 0;
  #check: Check | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #unavailableCallbacks = new Set<() => void>();
  #started = false;
  #stopped = false;

  constructor(database: Database, line: Announcements, logger: Logger) {
    this.#database = database;
    this.#line = line;
    this.#logger = logger;
    line.onLost(() => void this.#ask(false));
  }

  /** Whether the database is known to accept no writes. */
  get unavailable(): boolean {
    return this.#unavailable;
  }

  /** Calls back each time `unavailable` becomes true. Returns the function that unsubscribes. */
  onUnavailable(callback: () => void): () => void {
    this.#unavailableCallbacks.add(callback);
    return () => void this.#unavailableCallbacks.delete(callback);
  }

  get healthy(): boolean {
    return !this.#unavailable && !this.#isHeld;
  }

  get #isHeld(): boolean {
    return this.#holds > 0 && (this.#doubted || performance.now() < this.#heldUntilMs);
  }

  /** Called after the first contact. */
  async start(): Promise<void> {
    this.#started = true;
    this.#unavailable = false;
    await this.#ask(false);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** See `KeyDirectory.isUnavailableAfter`. */
  async isUnavailableAfter(error: unknown, check: 'wait' | 'start'): Promise<boolean> {
    const availability = availabilityAfter(error);
    if (this.#unavailable || availability === 'available') return this.#unavailable;
    const asked = this.#doubt();
    if (availability === 'unavailable') return true;
    if (check === 'wait') await asked;
    return this.#unavailable;
  }

  committed(): void {
    this.#holds = 0;
    this.#heldUntilMs = 0;
  }

  /**
   * A group was not committed, for a reason other than its content. Groups that fail during a hold do not lengthen it.
   */
  commitFailed(): void {
    const nowMs = performance.now();
    if (nowMs >= this.#heldUntilMs) {
      this.#heldUntilMs = nowMs + Math.min(FIRST_HOLD_MS * 2 ** this.#holds, LONGEST_HOLD_MS);
      this.#holds++;
    }
    void this.#doubt();
  }

  /** A commit takes unusually long. */
  commitIsSlow(): void {
    void this.#doubt();
  }

  async #doubt(): Promise<void> {
    if (performance.now() - this.#lastTrialMs >= TRIAL_LIFE_MS) await this.#ask(true);
  }

  /** Checks run one after the other. A running check also answers requests for the same or a weaker check. */
  async #ask(thorough: boolean): Promise<void> {
    if (this.#stopped || !this.#started) return;
    if (thorough) this.#doubted = true;
    const running = this.#check;
    if (running !== null) {
      await running.ended;
      if (running.thorough || !thorough || this.#unavailable) return;
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
      statementTimeoutMs: TRIAL_TIMEOUT_MS,
      readyTimeoutMs: TRIAL_TIMEOUT_MS,
      ready: async (session) => {
        const { rows } = await session.query(TAKES_DATA);
        requireWritable(rows[0]);
        requireStandby((await session.query(WAITING_COMMITS)).rows[0]);
        await session.query(TRIAL_WRITE).catch(refuseUnlessRefused);
      },
    });
    await endConnection(client);
    this.#lastTrialMs = performance.now();
    this.#doubted = false;
  }

  #present(): void {
    if (this.#stopped || !this.#unavailable) return;
    this.#unavailable = false;
    // The reason of the failed commits was observed and has ended, so no hold is needed.
    this.committed();
    const seconds = Math.round((performance.now() - this.#unavailableSinceMs) / 1000);
    this.#logger.info({ seconds }, 'the database accepts writes again');
  }

  #absent(error: unknown): void {
    if (this.#stopped || this.#unavailable) return;
    this.#unavailable = true;
    this.#unavailableSinceMs = performance.now();
    this.#logger.warn(
      { error: describeFailure(error), fix: remedyFor(error) },
      'the database accepts no writes: requests are answered 503 until it does',
    );
    for (const callback of this.#unavailableCallbacks) callback();
  }
}

function requireWritable(row: Readonly<Record<string, unknown>> | undefined): void {
  if (row?.['writable'] !== true) throw new Error('the server is read-only');
}

function requireStandby(row: Readonly<Record<string, unknown>> | undefined): void {
  if (row?.['found'] === true)
    throw new Error(
      'commits wait for a synchronous standby: start it, or remove it from synchronous_standby_names of the server',
    );
}

/**
 * A server that refuses the trial by a rule, for example a missing right, is available; storing rows may still work.
 */
function refuseUnlessRefused(error: unknown): void {
  if (availabilityAfter(error) !== 'available' || errorCode(error) === QUERY_CANCELED) throw error;
}
