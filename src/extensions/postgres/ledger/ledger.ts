/**
 * The ledger in Postgres: replay markers, trace ownership, quota and rows in one transaction. What is in the database after a
 * commit is everything a group promised; what is in it after anything else is nothing.
 *
 * A group is settled in rounds. A round takes the pending requests that do not contradict each other (a twin of an earlier
 * one, or another project's claim on the same trace, waits for the next round), runs the guards, and either commits them all
 * or takes out those a guard refused and begins anew. Each round decides at least one request, so the rounds end.
 *
 * Most rounds have nothing to refuse. So the guards are demanded in one write with the rows, and the counters and COMMIT are the
 * second and last. When a guard does not hold, the round is repeated with guards that are asked first, and so are the rounds of
 * the next moments: whoever sends again will do so more than once.
 */
import type pg from 'pg';
import type { Capability } from '../../../component/capability.ts';
import type { Claim, Commit, Ledger, Verdict } from '../../../component/ledger.ts';
import type { Logger } from '../../../component/logger.ts';
import type { Counter, Meter } from '../../../component/meter.ts';
import { POSTGRES_TRANSACTION } from '../../../component/postgres.ts';
import { Rejection } from '../../../errors.ts';
import type { Database } from '../database.ts';
import { isConnectionFailure, meaningOf, sqlstateOf } from '../sqlstate.ts';
import { runPipeline, type Step, type StepResult } from '../pipeline.ts';
import {
  addUsage,
  askGuards,
  demandGuards,
  findMarkers,
  findTraces,
  GuardRefusal,
  nameOf,
  type Reading,
  type StoredTrace,
} from './guards.ts';
import { Sessions } from './session.ts';
import { BEGIN, OpenTransaction } from './transaction.ts';
import { compatible, conflicts, overQuota, usageOf, verdictsFor } from './verdicts.ts';

type Write = (admitted: readonly Claim[], commit: Commit) => Promise<void>;

/** A round that takes longer has lost its connection in some way the system does not report. Large ones get more. */
const ROUND_DEADLINE_MS = 30000;
const ROUND_MS_PER_RECORD = 2;
/** Deadlocks and the like are tried again this often. */
const MAX_RETRIES = 2;
/** After a span came twice, spans go through the stage for this long: the sender is likely to repeat more of them. */
const STAGE_MS = 10000;
/** After a guard refused, the guards are asked first for this long. */
const ASK_MS = 1000;
const COMMIT = 'COMMIT';

export class PostgresLedger implements Ledger {
  /** While one group waits for the disk, the server can take the rows of another. */
  readonly lanes = 2;
  readonly #sessions: Sessions;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #failures: Counter;
  #stageUntilMs = 0;
  #askUntilMs = 0;
  #reachable = true;

  constructor(database: Database, logger: Logger, meter: Meter, now: () => number) {
    this.#sessions = new Sessions(database);
    this.#logger = logger;
    this.#now = now;
    this.#failures = meter.counter(
      'sluice_commit_failures',
      'Groups that could not be committed at the first try, by reason.',
    );
  }

  /** Whether the last commit could reach the database. */
  get reachable(): boolean {
    return this.#reachable;
  }

  async stop(): Promise<void> {
    await this.#sessions.close();
  }

  async settle(group: readonly Claim[], write: Write): Promise<readonly Verdict[]> {
    const verdicts = new Map<Claim, Verdict>();
    await this.#settleAll(group, write, verdicts);
    return group.map((claim) => verdicts.get(claim) as Verdict);
  }

  async #settleAll(group: readonly Claim[], write: Write, verdicts: Map<Claim, Verdict>): Promise<void> {
    for (let retries = 0; ; ) {
      const pending = group.filter((claim) => !verdicts.has(claim));
      if (pending.length === 0) return;
      const round = compatible(pending);
      const outcome = await this.#tryRound(round, write);
      if (outcome.kind === 'decided') {
        for (const [claim, verdict] of outcome.verdicts) verdicts.set(claim, verdict);
        retries = 0;
      } else if (outcome.kind === 'again' && retries++ < MAX_RETRIES) {
        this.#failures.add(1, { reason: 'retried' });
      } else if (outcome.kind === 'data') {
        await this.#bisect(round, outcome.error, write, verdicts);
      } else {
        refuse(round, outcome.error, verdicts);
        this.#failures.add(1, { reason: 'unavailable' });
      }
    }
  }

  /** Somebody's value does not fit the database: the innocent must not suffer, and the culprit must not be tried for ever. */
  async #bisect(round: readonly Claim[], error: unknown, write: Write, verdicts: Map<Claim, Verdict>): Promise<void> {
    this.#failures.add(1, { reason: 'data' });
    const [only] = round;
    if (round.length === 1 && only !== undefined) {
      this.#logger.error(
        { error, project: only.project.name, signal: only.signal },
        'a request passed the checks but does not fit the database',
      );
      verdicts.set(only, { kind: 'refused', rejection: new Rejection('invalid_payload', { cause: describe(error) }) });
      return;
    }
    const middle = Math.ceil(round.length / 2);
    await this.#settleAll(round.slice(0, middle), write, verdicts);
    await this.#settleAll(round.slice(middle), write, verdicts);
  }

  async #tryRound(round: readonly Claim[], write: Write): Promise<Outcome> {
    const attempt: Attempt = { committing: false, resetSeconds: 0 };
    let client: pg.Client;
    try {
      client = await this.#sessions.take();
    } catch (error) {
      this.#reachable = false;
      this.#logger.warn({ error: describe(error) }, 'the database cannot be reached');
      return { kind: 'failed', error };
    }
    const records = round.reduce((sum, { recordCount }) => sum + recordCount, 0);
    const deadline = setTimeout(
      () => this.#sessions.destroy(client),
      ROUND_DEADLINE_MS + records * ROUND_MS_PER_RECORD,
    );
    try {
      const verdicts = await this.#transact({ client, round, write, attempt });
      this.#reachable = true;
      return { kind: 'decided', verdicts };
    } catch (error) {
      return await this.#afterFailure(client, round, error, attempt);
    } finally {
      clearTimeout(deadline);
      await this.#sessions.give(client);
    }
  }

  async #transact(transaction: Transaction): Promise<ReadonlyMap<Claim, Verdict>> {
    const { client, round, attempt } = transaction;
    if (this.#now() < this.#askUntilMs) return this.#transactAsking(transaction);
    try {
      await this.#store(transaction, round, [BEGIN, ...demandGuards(round, attempt)]);
      return verdictsFor(round, 'stored', attempt);
    } catch (error) {
      if (!(error instanceof GuardRefusal)) throw error;
      this.#askUntilMs = this.#now() + ASK_MS;
      await client.query('ROLLBACK');
      return this.#transactAsking(transaction);
    }
  }

  /** With the guards' answers known before anything is written. */
  async #transactAsking(transaction: Transaction): Promise<ReadonlyMap<Claim, Verdict>> {
    const { client, round, attempt } = transaction;
    const answers = await askGuards(client, BEGIN, round);
    attempt.resetSeconds = answers.resetSeconds;
    const fresh = round.filter((claim) => answers.marked.has(nameOf(claim)));
    const replayed = verdictsFor(
      round.filter((claim) => !answers.marked.has(nameOf(claim))),
      'replayed',
      attempt,
    );
    const missing = fresh.flatMap(({ traces }) => traces.filter(({ traceId }) => !answers.claimed.has(traceId)));
    const against =
      missing.length === 0 ? NO_TRACES : await findTraces(client, [...new Set(missing.map(({ traceId }) => traceId))]);
    const conflicting = conflicts(fresh, against);
    const refused = conflicting.size > 0 ? conflicting : overQuota(fresh, attempt, new Map(answers.used));
    if (refused.size > 0 || fresh.length === 0) {
      await client.query('ROLLBACK');
      return new Map([...replayed, ...refused]);
    }
    await this.#store(transaction, fresh, []);
    return new Map([...replayed, ...verdictsFor(fresh, 'stored', attempt)]);
  }

  async #store(
    { client, write, attempt }: Transaction,
    claims: readonly Claim[],
    opening: readonly Step[],
  ): Promise<void> {
    const open = new OpenTransaction(client, opening, this.#now() < this.#stageUntilMs);
    await write(claims, commitOf(open));
    await open.taken();
    attempt.committing = true;
    await runPipeline(client, [
      addUsage(usageOf(claims, open.storedSpans)),
      { statement: { text: COMMIT }, read: readCommit },
    ]);
  }

  async #afterFailure(client: pg.Client, round: readonly Claim[], error: unknown, attempt: Attempt): Promise<Outcome> {
    const meaning = meaningOf(error);
    // What is not understood may come from the session itself, such as a statement it no longer knows.
    if (isConnectionFailure(error) || meaning === 'unavailable') this.#sessions.destroy(client);
    else await client.query('ROLLBACK').catch(() => this.#sessions.destroy(client));
    if (attempt.committing && isConnectionFailure(error)) return this.#resolveAmbiguous(round, error, attempt);
    this.#logger.warn({ error: describe(error), sqlstate: sqlstateOf(error) }, 'a group could not be committed');
    if (meaning === 'duplicate' && this.#now() >= this.#stageUntilMs) {
      this.#stageUntilMs = this.#now() + STAGE_MS;
      return { kind: 'again', error };
    }
    if (meaning === 'retry') return { kind: 'again', error };
    if (meaning === 'data' || meaning === 'duplicate') return { kind: 'data', error };
    this.#reachable = sqlstateOf(error) !== null && !isConnectionFailure(error);
    return { kind: 'failed', error };
  }

  /** The connection was lost after COMMIT was sent. The markers are part of the transaction: they tell whether it happened. */
  async #resolveAmbiguous(round: readonly Claim[], error: unknown, attempt: Attempt): Promise<Outcome> {
    this.#failures.add(1, { reason: 'ambiguous' });
    try {
      const marked = await this.#findMarkers(round);
      if (marked.size < round.length) return { kind: 'again', error };
      return { kind: 'decided', verdicts: verdictsFor(round, 'stored', attempt) };
    } catch (failure) {
      this.#logger.warn(
        { error: describe(failure) },
        'the outcome of a commit could not be found out: its requests are answered 503',
      );
      return { kind: 'failed', error };
    }
  }

  async #findMarkers(round: readonly Claim[]): Promise<ReadonlySet<Claim>> {
    const session = await this.#sessions.take();
    const limit = setTimeout(() => this.#sessions.destroy(session), ROUND_DEADLINE_MS);
    try {
      const marked = await findMarkers(session, round);
      await this.#sessions.give(session);
      return marked;
    } catch (error) {
      this.#sessions.destroy(session);
      throw error;
    } finally {
      clearTimeout(limit);
    }
  }
}

/** What is found out on the way of one attempt, and matters after it failed. */
interface Attempt extends Reading {
  /** COMMIT may have reached the server. */
  committing: boolean;
}

interface Transaction {
  readonly client: pg.Client;
  readonly round: readonly Claim[];
  readonly write: Write;
  readonly attempt: Attempt;
}

const NO_TRACES: ReadonlyMap<string, StoredTrace> = new Map();

type Outcome =
  | { readonly kind: 'decided'; readonly verdicts: ReadonlyMap<Claim, Verdict> }
  | { readonly kind: 'again' | 'data' | 'failed'; readonly error: unknown };

function commitOf(transaction: OpenTransaction): Commit {
  return {
    join: <T>(capability: Capability<T>) =>
      capability.name === POSTGRES_TRANSACTION.name ? (transaction as T) : undefined,
    taken: () => transaction.taken(),
  };
}

/** A transaction that has failed answers COMMIT with ROLLBACK, and no error. */
function readCommit({ tag }: StepResult): void {
  if (tag !== COMMIT) throw new Error(`the server answered COMMIT with ${tag}`);
}

function refuse(claims: readonly Claim[], error: unknown, verdicts: Map<Claim, Verdict>): void {
  const rejection = new Rejection('ingestion_failed', { cause: describe(error) });
  for (const claim of claims) verdicts.set(claim, { kind: 'refused', rejection });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
