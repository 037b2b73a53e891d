/** What every campaign takes and gives: so many cycles of one kind of misfortune, and the judge's findings at the end. */
import { Findings } from '../check/findings.ts';
import { Load } from '../load/load.ts';
import { Range, type RangeOptions } from '../stage/range.ts';

export interface CampaignOptions {
  readonly cycles: number;
  readonly seed: number;
  /** The product under test, when it is not this repository. */
  readonly root?: string | undefined;
  /** Only the cases whose name has this text, where a campaign has named cases. */
  readonly only?: string | undefined;
  /** Leave the journal and the logs of the replicas in place when something was found. */
  readonly keep?: boolean;
  /** For people who wait. */
  say(line: string): void;
}

export interface CampaignResult {
  readonly cycles: number;
  readonly requests: number;
  readonly accepted: number;
  readonly findings: Findings;
  /** Figures worth a line of their own. */
  readonly notes: readonly string[];
}

export interface Campaign {
  readonly name: string;
  readonly summary: string;
  /** Cycles of the whole form and of the short one. */
  readonly cycles: { readonly full: number; readonly short: number };
  run(options: CampaignOptions): Promise<CampaignResult>;
}

/** What a campaign does on its range; the notes it returns go into its result. */
export type Course = (range: Range, findings: Findings) => Promise<readonly string[]>;

/** Opens a range, holds the course on it, and judges what is left. */
export async function hold(
  options: CampaignOptions,
  place: Omit<RangeOptions, 'root' | 'seed'>,
  course: Course,
): Promise<CampaignResult> {
  const range = await Range.open({ ...place, root: options.root, seed: options.seed });
  const findings = new Findings();
  try {
    const notes = [...(await course(range, findings))];
    if (range.sender.accepted === 0) findings.add('unproven', 'not one request was accepted');
    findings.merge(await range.check());
    if (options.keep === true && findings.total > 0) notes.push(`journal and logs are kept in ${range.folder}`);
    return {
      cycles: options.cycles,
      requests: range.sender.requests,
      accepted: range.sender.accepted,
      findings,
      notes,
    };
  } finally {
    await range.close(options.keep === true && findings.total > 0);
  }
}

/** Aimed shots that must hit, at least, in percent: messages come in another order once in a while, not as a rule. */
const LEAST_HITS_PERCENT = 50;

/** A fault that never happened proves nothing: perhaps the product no longer sends what is aimed at. */
export function expectHits(findings: Findings, hits: number, shots: number): void {
  if (hits * 100 < shots * LEAST_HITS_PERCENT)
    findings.add('unproven', `only ${hits} of ${shots} faults hit their message`);
}

const SENDERS = 8;
const PAUSE_MS = 10;
const ABANDON_PERCENT = 20;

/** The usual load on all replicas of a range. */
export function startLoad(range: Range, seed: number, senders = SENDERS): Load {
  const options = { senders, seed, pauseMs: PAUSE_MS, abandonPercent: ABANDON_PERCENT };
  return new Load({ maker: range.maker, sender: range.sender }, range.replicas, options).start();
}
