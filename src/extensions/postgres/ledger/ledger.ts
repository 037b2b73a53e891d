/**
 * The ledger in Postgres: replay markers, trace ownership, quota and rows in one transaction. A committed transaction
 * contains everything that its requests need; any other transaction leaves nothing.
 *
 * A group is settled in rounds. A round takes the pending requests that do not contradict each other. A request with
 * the body of another one, or with a claim of another project on the same trace, waits for the outcome of the first.
 * The round runs the guards and then commits all of its requests, or removes those that a guard refused and starts
 * again. Each round decides at least one request, so the rounds end.
 *
 * A request is invalid only because of its own values. Any other failure is retried or answered 503: the sender keeps
 * its data.
 */
import type pg from 'pg';
import type { Claim, Decision, Kind, Ledger } from '../../../component/capabilities/ledger.ts';
import type { Host } from '../../../component/component.ts';
import { isLockTimeout } from '../../../component/short-locks.ts';
import type { Logger } from '../../../component/logger.ts';
import { maskedError, maskSecrets } from '../../../component/masked-text.ts';
import type { Counter } from '../../../component/meter.ts';
import { Rejection } from '../../../errors.ts';
import type { Database } from '../database.ts';
import { availabilityAfter } from '../availability.ts';
import { isConnectionFailure, type Meaning, meaningOf, sqlstateOf } from '../sqlstate.ts';
import { Attempt, type Decided, type Write } from './attempt.ts';
import { KnownContents } from './contents.ts';
import { findMarkers, type Reading } from './guards.ts';
import { isMixed, RETRY_WITHIN_MS, roundDeadlineMs } from './limits.ts';
import { Sessions } from './session.ts';
import { RecentConflicts } from './recent-conflicts.ts';
import { RowFault } from './row-fault.ts';
import { type Repeats, StageUnavailable } from './transaction.ts';
import { compatible, implied, ownersOf, outcomesFor } from './outcomes.ts';

/** The state of the database that the ledger needs, and the events that it reports. */
export interface LedgerWatch {
  /** Whether the database is known to be unavailable for writing. */
  readonly unavailable: boolean;
  /** Calls back each time `unavailable` becomes true. Returns the function that unsubscribes. */
  onUnavailable(callback: () => void): () => void;
  committed(): void;
  /** A group was not committed, for a reason other than its content. */
  commitFailed(): void;
  /** A group takes unusually long. */
  commitIsSlow(): void;
}

/** The markers of a group are few. A server that takes longer hangs, and its requests have waited long already. */
const FIND_MARKERS_MS = 5000;
/** A round that takes longer may wait for a server that answers other questions. */
const SLOW_ROUND_MS = 5000;
/**
 * Rounds end when the database has been known to be unavailable for this time. A database that has stopped answering is
 * known to be unavailable after 3 s, and SDKs wait 10 s for their answer.
 */
const UNAVAILABLE_ROUND_MS = 4000;
/** The number of retries after deadlocks and similar failures. */
const MAX_RETRIES = 2;

const UNAVAILABLE = 'the database is unavailable';

/** The state of one call of `settle`, which other calls do not share. */
interface Settlement {
  readonly write: Write;
  readonly startedMs: number;
  readonly decisions: Map<Claim, Decision>;
  /** A group of several projects does not wait for the locks of one of them. */
  readonly impatient: boolean;
}

export class PostgresLedger implements Ledger {
  /** While one group waits for the disk, the server can process the rows of another. */
  readonly concurrentGroups = 2;
  readonly concurrentHeavyRequests = 1;
  readonly #sessions: Sessions;
  /** The sessions of rounds. */
  readonly #inRound = new Set<pg.Client>();
  #endOfRounds: NodeJS.Timeout | undefined;
  readonly #watch: LedgerWatch;
  readonly #clock: Database['clock'];
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #failures: Counter;
  readonly #recentConflicts: RecentConflicts;
  /** One for each connection: another one may lead to a server that lacks the last commits of this one. */
  readonly #known = new WeakMap<pg.Client, KnownContents>();
  /** How spans that are stored already are left out. */
  #skipping: Repeats = 'stage';

  constructor(database: Database, watch: LedgerWatch, { logger, meter, now }: Pick<Host, 'logger' | 'meter' | 'now'>) {
    this.#sessions = new Sessions(database);
    this.#watch = watch;
    watch.onUnavailable(() => this.#endRoundsLater());
    this.#clock = database.clock;
    this.#logger = logger;
    this.#now = now;
    this.#recentConflicts = new RecentConflicts(now);
    this.#failures = meter.counter(
      'sluice_commit_failures',
      'Groups that could not be committed at the first try, by reason.',
    );
  }

  isUnavailable(): boolean {
    return this.#watch.unavailable;
  }

  onUnavailable(callback: () => void): () => void {
    return this.#watch.onUnavailable(callback);
  }

  now(): number {
    return this.#clock.now();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#endOfRounds);
    await this.#sessions.close();
  }

  kindOf(claim: Claim): Kind {
    return this.#recentConflicts.kindOf(claim);
  }

  async settle(group: readonly Claim[], write: Write): Promise<readonly Decision[]> {
    const decisions = new Map<Claim, Decision>();
    await this.#settleAll(group, { write, decisions, startedMs: this.#now(), impatient: isMixed(group) });
    return group.map((claim) => decisions.get(claim) as Decision);
  }

  async #settleAll(group: readonly Claim[], settlement: Settlement): Promise<void> {
    const { decisions, impatient, startedMs } = settlement;
    let mayRepeat = false;
    for (let retries = 0; ; ) {
      const pending = group.filter((claim) => !decisions.has(claim));
      if (pending.length === 0) return;
      // Otherwise each round of waiting requests would wait for a connection attempt that fails.
      if (this.#watch.unavailable) return refuse(pending, new Error(UNAVAILABLE), decisions);
      const round = compatible(pending);
      const result = await this.#tryRound(round, settlement, mayRepeat);
      if (result.kind === 'decided') {
        this.#decide(pending, result, decisions);
        retries = 0;
      } else if (result.kind === 'repeats') {
        mayRepeat = true;
        this.#failures.add(1, { reason: 'retried' });
      } else if (result.kind === 'isolate') {
        await this.#isolate(round, result.error, settlement);
      } else if (result.kind === 'blocked' && impatient) {
        await this.#separate(round, settlement);
      } else if (result.kind !== 'failed' && retries++ < MAX_RETRIES && this.#now() - startedMs < RETRY_WITHIN_MS) {
        this.#failures.add(1, { reason: 'retried' });
      } else {
        refuse(pending, result.error, decisions);
        this.#failures.add(1, { reason: 'unavailable' });
      }
    }
  }

  #decide(pending: readonly Claim[], { outcomes, owners }: Decided, decisions: Map<Claim, Decision>): void {
    for (const [claim, outcome] of outcomes) decisions.set(claim, outcome);
    const others = pending.filter((claim) => !outcomes.has(claim));
    if (others.length === 0) return;
    for (const [claim, outcome] of implied(others, outcomes, owners())) decisions.set(claim, outcome);
  }

  /** Finds the request whose rows the database refuses by bisection. The others are stored. */
  async #isolate(round: readonly Claim[], error: unknown, settlement: Settlement): Promise<void> {
    this.#failures.add(1, { reason: 'data' });
    const [only] = round;
    if (round.length === 1 && only !== undefined) {
      this.#logger.error(
        { error: maskedError(error), sqlstate: sqlstateOf(error), project: only.project.name, signal: only.signal },
        'a request passed the checks but does not fit the database',
      );
      this.#recentConflicts.note('apart', only);
      const code = error instanceof RowFault ? 'invalid_payload' : 'ingestion_failed';
      const rejection = new Rejection(code, { cause: describe(error) });
      settlement.decisions.set(only, { kind: 'refused', rejection });
      return;
    }
    const middle = Math.ceil(round.length / 2);
    await this.#settleAll(round.slice(0, middle), settlement);
    await this.#settleAll(round.slice(middle), settlement);
  }

  /**
   * A lock was held for too long. Each project is settled by itself, which finds the project that waits for the lock.
   */
  async #separate(round: readonly Claim[], settlement: Settlement): Promise<void> {
    this.#failures.add(1, { reason: 'blocked' });
    if (!isMixed(round)) {
      for (const claim of round) {
        this.#recentConflicts.note('apart', claim);
        settlement.decisions.set(claim, { kind: 'deferred' });
      }
      return;
    }
    const projects = new Set(round.map(({ project }) => project.name));
    for (const name of projects) {
      const own = round.filter(({ project }) => project.name === name);
      await this.#settleAll(own, settlement);
    }
  }

  async #tryRound(round: readonly Claim[], settlement: Settlement, mayRepeat: boolean): Promise<RoundResult> {
    let client: pg.Client;
    try {
      client = await this.#sessions.take();
    } catch (error) {
      this.#watch.commitFailed();
      this.#logger.warn({ error: describe(error) }, 'the database cannot be reached');
      return { kind: 'failed', error };
    }
    this.#inRound.add(client);
    const { write, impatient } = settlement;
    const recentConflicts = this.#recentConflicts;
    const repeats = mayRepeat || recentConflicts.expectsRepeats(round) ? this.#skipping : 'fail';
    const known = this.#known.get(client) ?? new KnownContents(this.#now);
    this.#known.set(client, known);
    const countsRows = this.#sessions.mustCountRows(client);
    const startedMs = this.#now();
    const slow = setTimeout(() => this.#watch.commitIsSlow(), SLOW_ROUND_MS);
    const attempt = new Attempt({ client, round, write, recentConflicts, repeats, known, impatient, countsRows });
    const deadline = setTimeout(() => this.#sessions.destroy(client), roundDeadlineMs(round));
    try {
      const decided = await attempt.run();
      this.#watch.committed();
      return { kind: 'decided', ...decided };
    } catch (error) {
      return await this.#afterFailure(client, round, error, { attempt, startedMs });
    } finally {
      clearTimeout(deadline);
      clearTimeout(slow);
      this.#inRound.delete(client);
      await this.#sessions.give(client);
    }
  }

  /** Cuts off the rounds that wait for a database without answers. */
  #endRoundsLater(): void {
    clearTimeout(this.#endOfRounds);
    this.#endOfRounds = setTimeout(() => {
      if (this.#watch.unavailable) for (const client of this.#inRound) this.#sessions.destroy(client);
    }, UNAVAILABLE_ROUND_MS);
    this.#endOfRounds.unref();
  }

  async #afterFailure(
    client: pg.Client,
    round: readonly Claim[],
    error: unknown,
    { attempt, startedMs }: { readonly attempt: Attempt; readonly startedMs: number },
  ): Promise<RoundResult> {
    const meaning = meaningOf(error);
    // An unknown failure may come from the session itself, for example from a lost prepared statement.
    if (isConnectionFailure(error) || meaning === 'unavailable') this.#sessions.destroy(client);
    else await client.query('ROLLBACK').catch(() => this.#sessions.destroy(client));
    if (attempt.committing && isConnectionFailure(error))
      return this.#resolveAmbiguous(round, error, { reading: attempt, startedMs });
    this.#logger.warn({ error: describe(error), sqlstate: sqlstateOf(error) }, 'a group could not be committed');
    if (error instanceof StageUnavailable) {
      this.#skipping = 'bind';
      return { kind: 'again', error };
    }
    const kind = resultKindOf(error, meaning, attempt.mayRepeat);
    if (kind === 'failed' && concernsAll(error)) this.#watch.commitFailed();
    return { kind, error };
  }

  /**
   * The connection was lost after COMMIT was sent. The markers are part of the transaction and show whether it was
   * committed. A marker that is older than the attempt belongs to an earlier request with the same body.
   */
  async #resolveAmbiguous(
    round: readonly Claim[],
    error: unknown,
    { reading, startedMs }: { readonly reading: Reading; readonly startedMs: number },
  ): Promise<RoundResult> {
    this.#failures.add(1, { reason: 'ambiguous' });
    try {
      if (this.#watch.unavailable) throw new Error(UNAVAILABLE);
      const ages = await this.#findMarkers(round, reading);
      if (ages.size < round.length) return { kind: 'again', error };
      const elapsedMs = Math.ceil(this.#now() - startedMs);
      const replayed = round.filter((claim) => (ages.get(claim) ?? 0) > elapsedMs);
      const outcomes = new Map([
        ...outcomesFor(round, 'stored', reading),
        ...outcomesFor(replayed, 'replayed', reading),
      ]);
      return { kind: 'decided', outcomes, owners: () => ownersOf(round) };
    } catch (failure) {
      this.#watch.commitFailed();
      this.#logger.warn(
        { error: describe(failure) },
        'the outcome of a commit is unknown: its requests are answered 503',
      );
      return { kind: 'failed', error };
    }
  }

  async #findMarkers(round: readonly Claim[], reading: Reading): Promise<ReadonlyMap<Claim, number>> {
    const session = await this.#sessions.take();
    const limit = setTimeout(() => this.#sessions.destroy(session), FIND_MARKERS_MS);
    try {
      const ages = await findMarkers(session, round, reading);
      await this.#sessions.give(session);
      return ages;
    } catch (error) {
      this.#sessions.destroy(session);
      throw error;
    } finally {
      clearTimeout(limit);
    }
  }
}

type RoundResult =
  | ({ readonly kind: 'decided' } & Decided)
  | { readonly kind: 'again' | 'repeats' | 'blocked' | 'isolate' | 'failed'; readonly error: unknown };

/**
 * `mayRepeat`: stored spans can be the cause of the failure. Servers report these differently (Citus reports an
 * internal error), so any unknown failure may be one of them.
 */
function resultKindOf(error: unknown, meaning: Meaning, mayRepeat: boolean): Exclude<RoundResult['kind'], 'decided'> {
  if (meaning === 'retry') return isLockTimeout(error) ? 'blocked' : 'again';
  if (mayRepeat && (meaning === 'duplicate' || isUnknown(error))) return 'repeats';
  if (meaning === 'duplicate' || meaning === 'constraint' || error instanceof RowFault) return 'isolate';
  return 'failed';
}

/** No request could be stored: the database is unavailable, or a table or a right is missing. */
const concernsAll = (error: unknown): boolean =>
  availabilityAfter(error) !== 'available' || sqlstateOf(error)?.startsWith('42') === true;

/** The server refused a statement, neither for a value nor for a lack of resources. */
const isUnknown = (error: unknown): boolean =>
  !isConnectionFailure(error) && ['XX', '0A', '42', '26', 'P0'].includes((sqlstateOf(error) ?? '').slice(0, 2));

function refuse(claims: readonly Claim[], error: unknown, decisions: Map<Claim, Decision>): void {
  const rejection = new Rejection('ingestion_failed', { cause: describe(error) });
  for (const claim of claims) decisions.set(claim, { kind: 'refused', rejection });
}

/** The server's message about a value may quote it. */
function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return error instanceof RowFault || meaningOf(error) === 'data' ? maskSecrets(text) : text;
}
