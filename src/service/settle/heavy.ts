/** Large requests: which other requests must wait for them, and which are refused after a recent failure. */
import type { Claim } from '../../component/capabilities/ledger.ts';
import { shareTrace } from '../../pdata/claimed-traces.ts';

/** A request that took long and failed is refused at once for this multiple of its time, when it is sent again. */
const PAUSE_FACTOR = 2;
const SHORTEST_FAILURE_MS = 1000;
const LONGEST_PAUSE_MS = 60000;
const MAX_FAILURES = 100;

/** The claims of one group. Others that depend on them would wait in the database, and so would their groups. */
export class BlockingClaims {
  readonly #claims: readonly Claim[];
  readonly #holdsCounters: boolean;

  /** `holdsCounters`: the counters with a quota are locked before the rows are written, not after. */
  constructor(claims: readonly Claim[], holdsCounters: boolean) {
    this.#claims = claims;
    this.#holdsCounters = holdsCounters;
  }

  /** Whether they share a body, a counter that is locked for long, or a trace with the claim. */
  block(claim: Claim): boolean {
    return this.#claims.some((each) => this.#shareCounterOrBody(claim, each) || shareTrace(claim.traces, each.traces));
  }

  #shareCounterOrBody(claim: Claim, other: Claim): boolean {
    if (claim.project.name !== other.project.name) return false;
    const sharesCounter = this.#holdsCounters && other.project.monthlySpans !== null;
    return sharesCounter || Buffer.compare(claim.replayKey, other.replayKey) === 0;
  }
}

/** Heavy requests that failed recently. A sender that repeats one must not delay the heavy requests of others. */
export class FailedRequests {
  readonly #now: () => number;
  readonly #untilMs = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note(claim: Claim, tookMs: number): void {
    if (tookMs < SHORTEST_FAILURE_MS) return;
    const [oldest] = this.#untilMs.keys();
    if (this.#untilMs.size >= MAX_FAILURES && oldest !== undefined) this.#untilMs.delete(oldest);
    this.#untilMs.set(nameOf(claim), this.#now() + Math.min(LONGEST_PAUSE_MS, tookMs * PAUSE_FACTOR));
  }

  has(claim: Claim): boolean {
    const name = nameOf(claim);
    const untilMs = this.#untilMs.get(name);
    if (untilMs === undefined) return false;
    if (this.#now() < untilMs) return true;
    this.#untilMs.delete(name);
    return false;
  }
}

const nameOf = ({ project, replayKey }: Claim): string =>
  `${project.name}\0${Buffer.from(replayKey).toString('base64')}`;
