/**
 * Projects that recently made a group more expensive, so that the next groups are formed and settled accordingly. This
 * decides only how a request is settled, never its outcome.
 */
import type { Claim, Kind } from '../../../component/capabilities/ledger.ts';

/** A sender that was refused or repeated a body is likely to do so again soon. */
const REFUSED_MS = 1000;
/** A sender that repeats spans in other bodies has lost answers, and repeats more of them. */
const REPEATS_MS = 10000;
/** A sender whose rows did not fit the database, or whose locks another transaction held. */
const APART_MS = 5000;
/** Expired entries are removed when there are more entries than this. */
const MANY_ENTRIES = 1000;

type Reason = 'refused' | 'repeats' | 'apart';
const DURATIONS: Readonly<Record<Reason, number>> = { refused: REFUSED_MS, repeats: REPEATS_MS, apart: APART_MS };

export class RecentConflicts {
  readonly #now: () => number;
  readonly #untilMs: Readonly<Record<Reason, Map<string, number>>> = {
    refused: new Map(),
    repeats: new Map(),
    apart: new Map(),
  };

  constructor(now: () => number) {
    this.#now = now;
  }

  note(reason: Reason, { project }: Claim): void {
    const now = this.#now();
    const entries = this.#untilMs[reason];
    entries.set(project.name, now + DURATIONS[reason]);
    if (entries.size <= MANY_ENTRIES) return;
    for (const [name, untilMs] of entries) if (untilMs <= now) entries.delete(name);
  }

  /** Whether the guards should be pessimistic. */
  expectsRefusal(claims: readonly Claim[]): boolean {
    return claims.some((claim) => this.#has('refused', claim));
  }

  /** Whether spans that are stored already are expected. */
  expectsRepeats(claims: readonly Claim[]): boolean {
    return claims.some((claim) => claim.signal === 'traces' && this.#has('repeats', claim));
  }

  kindOf(claim: Claim): Kind {
    if (this.#has('apart', claim)) return 'apart';
    return this.expectsRefusal([claim]) || this.expectsRepeats([claim]) ? 'pessimistic' : 'plain';
  }

  #has(reason: Reason, { project }: Claim): boolean {
    const untilMs = this.#untilMs[reason].get(project.name);
    return untilMs !== undefined && this.#now() < untilMs;
  }
}
