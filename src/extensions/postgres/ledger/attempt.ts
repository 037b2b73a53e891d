/**
 * One attempt to store a round in one transaction. Most rounds are not refused, so one write carries optimistic guards,
 * the rows, the counters and COMMIT: a guard that fails in the server makes it skip the rest. COMMIT is sent by itself,
 * with the counters, when the client must see the results before: exporters that cannot roll back write first, or the
 * number of stored rows is only known then. If a guard fails, the attempt is repeated with pessimistic guards, which
 * are checked before the rows are written. For a short time the next attempts of these projects use them too. Before
 * pessimistic guards, requests that the stored state refuses are found by reading only.
 */
import type pg from 'pg';
import type { Capability } from '../../../component/capabilities/capability.ts';
import type { Claim, TransactionHandle, Outcome } from '../../../component/capabilities/ledger.ts';
import { POSTGRES_TRANSACTION } from '../../../component/capabilities/postgres.ts';
import type { OwnedTraces } from '../../../pdata/owned-traces.ts';
import { finishWithPolls } from '../../../pdata/steps.ts';
import { runPipeline, type Step, type StepResult } from '../wire-pipeline.ts';
import {
  addUsage,
  assertRoom,
  awaitStandby,
  pessimisticGuards,
  optimisticGuards,
  findTraces,
  GuardRefusal,
  nameOf,
} from './guards.ts';
import { findEarlyRefusals } from './early-refusals.ts';
import { openingOf } from './limits.ts';
import type { RecentConflicts } from './recent-conflicts.ts';
import { SUCCESSFUL_COMPLETION, sqlstateOf } from '../sqlstate.ts';
import type { KnownContents } from './contents.ts';
import { ContentsStored, OpenTransaction, type Repeats } from './transaction.ts';
import { conflicts, overQuota, ownersOf, usageOf, outcomesFor } from './outcomes.ts';

export type Write = (admitted: readonly Claim[], handle: TransactionHandle) => Promise<void>;

const COMMIT = 'COMMIT';

export interface Decided {
  readonly outcomes: ReadonlyMap<Claim, Outcome>;
  /** The owners of traces that were read or set by this attempt. There can be many. */
  owners(): OwnedTraces;
}

/** The guards of a transaction that precede its rows, in portions, and those that follow them. */
interface Guards {
  /** The last portion is sent together with the rows. */
  readonly before: Iterable<readonly Step[]>;
  readonly after: readonly Step[];
}

export interface AttemptParts {
  readonly client: pg.Client;
  readonly round: readonly Claim[];
  readonly write: Write;
  readonly recentConflicts: RecentConflicts;
  readonly repeats: Repeats;
  readonly known: KnownContents;
  /** Whether lock waits are short. */
  readonly impatient: boolean;
  /** Whether the number of stored rows must be compared before COMMIT. */
  readonly countsRows: boolean;
}

export class Attempt {
  readonly #parts: AttemptParts;
  /** COMMIT may have been executed. */
  committing = false;
  /** Seconds until the next UTC month, by the database's clock; 0 unless a project with a quota was read. */
  resetSeconds = 0;
  #contentsAreStored = false;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  /** Whether stored spans can be the cause of the failure. */
  get mayRepeat(): boolean {
    const { repeats, round } = this.#parts;
    return repeats === 'fail' && round.some(({ signal }) => signal === 'traces');
  }

  /** Rejects with the cause. The transaction may still be open then. */
  async run(): Promise<Decided> {
    const decided = await this.#runUntilContentsAreStored();
    // A commit of this attempt has waited for the standby itself.
    const answersByMarkers = !this.committing && [...decided.outcomes.values()].some(({ kind }) => kind === 'replayed');
    if (answersByMarkers) await runPipeline(this.#parts.client, [awaitStandby]);
    return decided;
  }

  async #runUntilContentsAreStored(): Promise<Decided> {
    try {
      return await this.#run();
    } catch (error) {
      if (!(error instanceof ContentsStored)) throw error;
      this.#contentsAreStored = true;
      return this.#run();
    }
  }

  async #run(): Promise<Decided> {
    const { client, round, recentConflicts } = this.#parts;
    if (recentConflicts.expectsRefusal(round)) return this.#runPessimistic();
    try {
      const guards = { before: optimisticGuards(round), after: assertRoom(round, this) };
      await this.#store(round, this.#opening(), guards);
      return { outcomes: outcomesFor(round, 'stored', this), owners: () => ownersOf(round) };
    } catch (error) {
      if (!(error instanceof GuardRefusal)) throw error;
      await client.query('ROLLBACK');
      return this.#runPessimistic();
    }
  }

  /** Pessimistic: the results of the guards are known before rows are written. */
  async #runPessimistic(): Promise<Decided> {
    const { client, round, recentConflicts } = this.#parts;
    this.committing = false;
    const early = await findEarlyRefusals(client, round, this);
    if (early.refused.size > 0) {
      for (const claim of early.refused.keys()) recentConflicts.note('refused', claim);
      return { outcomes: early.refused, owners: () => early.owners };
    }
    const answers = await pessimisticGuards(client, this.#opening(), round);
    this.resetSeconds = answers.resetSeconds;
    const fresh = round.filter((claim) => answers.marked.has(nameOf(claim)));
    const repeated = round.filter((claim) => !answers.marked.has(nameOf(claim)));
    const replayed = outcomesFor(repeated, 'replayed', this);
    const against = await findTraces(client, [...answers.missing]);
    const conflicting = await finishWithPolls(conflicts(fresh, against));
    const refused = conflicting.size > 0 ? conflicting : overQuota(fresh, this, new Map(answers.used));
    for (const claim of [...repeated, ...refused.keys()]) recentConflicts.note('refused', claim);
    if (refused.size > 0 || fresh.length === 0) {
      await client.query('ROLLBACK');
      return { outcomes: new Map([...replayed, ...refused]), owners: () => against };
    }
    await this.#store(fresh, [], { before: [], after: [] });
    return { outcomes: new Map([...replayed, ...outcomesFor(fresh, 'stored', this)]), owners: () => ownersOf(fresh) };
  }

  async #store(claims: readonly Claim[], opening: readonly Step[], guards: Guards): Promise<void> {
    const { client, write, repeats, known, countsRows } = this.#parts;
    let steps = opening;
    let portions = 0;
    for (const portion of guards.before) {
      if (portions++ > 0) {
        await runPipeline(client, steps);
        steps = [];
      }
      steps = [...steps, ...portion];
    }
    const contentsAreStored = this.#contentsAreStored;
    const open = new OpenTransaction({
      client,
      opening: steps,
      closing: guards.after,
      repeats,
      known,
      contentsAreStored,
    });
    await write(claims, handleOf(open));
    if (countsRows || !open.storesAll) await open.flush();
    const usage = usageOf(claims, open.storedSpans);
    this.#noteRepeats(claims, open.storedSpans);
    await this.#commit(open, addUsage(usage));
    open.committed();
  }

  /**
   * Sends the rest of the transaction, and COMMIT. A commit whose wait for a synchronous standby was cancelled succeeds
   * with a warning. Whether it is on the standby is as unknown as after a lost connection.
   */
  async #commit(open: OpenTransaction, usage: Step): Promise<void> {
    const { client } = this.#parts;
    const warnings: string[] = [];
    const note = (notice: Notice): void => {
      if (leavesDoubt(notice)) warnings.push(notice.message ?? '');
    };
    const counters: Step = { ...usage, read: () => void client.on('notice', note) };
    let isCommitAnswered = false;
    const translate = (error: unknown): unknown => {
      isCommitAnswered = true;
      return error;
    };
    this.committing = true;
    try {
      await open.end([counters, { statement: { text: COMMIT }, read: readCommit, translate }]);
    } catch (error) {
      // The server refused an earlier statement, and skipped COMMIT.
      if (!isCommitAnswered && sqlstateOf(error) !== null) this.committing = false;
      throw error;
    } finally {
      client.off('notice', note);
    }
    if (warnings.length > 0) throw new Error(`the server answered COMMIT with a warning: ${warnings.join('; ')}`);
  }

  #opening(): readonly Step[] {
    return openingOf(this.#parts.round, this.#parts.impatient);
  }

  /** Only the projects whose spans were stored already: the others of the group keep the faster way. */
  #noteRepeats(claims: readonly Claim[], storedSpans: ReadonlyMap<string, number> | null): void {
    if (storedSpans === null) return;
    const claimed = usageOf(claims, null);
    for (const claim of claims) {
      const { name } = claim.project;
      if ((storedSpans.get(name) ?? 0) < (claimed.get(name)?.spans ?? 0))
        this.#parts.recentConflicts.note('repeats', claim);
    }
  }
}

function handleOf(transaction: OpenTransaction): TransactionHandle {
  return {
    join: <T>(capability: Capability<T>) =>
      capability.name === POSTGRES_TRANSACTION.name ? (transaction as T) : undefined,
    flush: () => transaction.flush(),
  };
}

interface Notice {
  readonly message?: string | undefined;
  readonly code?: string | undefined;
  readonly where?: string | undefined;
}

/**
 * Whether a message that arrives before the answer to COMMIT may mean that the transaction is not durable. Notices and
 * lines of the server's log have the code of success. A warning that a trigger raised names its place. Any other comes
 * from COMMIT itself, for example that its wait was cancelled, or that no transaction was open.
 */
const leavesDoubt = ({ code, where }: Notice): boolean => code !== SUCCESSFUL_COMPLETION && where === undefined;

/** A failed transaction answers COMMIT with ROLLBACK and without an error. */
function readCommit({ tag }: StepResult): void {
  if (tag !== COMMIT) throw new Error(`the server answered COMMIT with ${tag}`);
}
