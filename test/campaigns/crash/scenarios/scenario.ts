/** What scenarios have in common: a number of cycles of one kind of fault on a testbed, then the checker's findings. */
import { Findings } from '../check/findings.ts';
import { Load } from '../load/load.ts';
import { Testbed, type TestbedOptions } from '../testbed/testbed.ts';

export interface ScenarioOptions {
  readonly cycles: number;
  readonly seed: number;
  /** The folder of the product under test; this repository unless set. */
  readonly root?: string | undefined;
  /** The URL of a server with an empty database, which replaces the embedded one. */
  readonly url?: string | undefined;
  /** Only the cases whose name has this text, where a scenario has named cases. */
  readonly only?: string | undefined;
  /** Keep the journal and the logs of the replicas when there are findings. */
  readonly keep?: boolean;
  /** Prints a line of progress. */
  report(line: string): void;
}

export interface ScenarioResult {
  readonly cycles: number;
  readonly requests: number;
  readonly accepted: number;
  readonly findings: Findings;
  /** Figures that the table does not have. */
  readonly notes: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** Cycles of the full and of the short form. */
  readonly cycles: { readonly full: number; readonly short: number };
  run(options: ScenarioOptions): Promise<ScenarioResult>;
}

/** The steps of a scenario. The returned notes go into the result. */
export type Steps = (testbed: Testbed, findings: Findings) => Promise<readonly string[]>;

/** Opens a testbed, runs the steps and checks the stores. */
export async function runScenario(
  options: ScenarioOptions,
  layout: Omit<TestbedOptions, 'root' | 'seed' | 'url'>,
  steps: Steps,
): Promise<ScenarioResult> {
  const testbed = await Testbed.open({ ...layout, root: options.root, seed: options.seed, url: options.url });
  const findings = new Findings();
  try {
    const notes = [...(await steps(testbed, findings))];
    if (testbed.sender.accepted === 0) findings.add('unproven', 'no request was accepted');
    findings.merge(await testbed.check());
    if (options.keep === true && findings.total > 0) notes.push(`journal and logs are kept in ${testbed.folder}`);
    return {
      cycles: options.cycles,
      requests: testbed.sender.requests,
      accepted: testbed.sender.accepted,
      findings,
      notes,
    };
  } finally {
    await testbed.close(options.keep === true && findings.total > 0);
  }
}

/** The least share of faults that must be injected: the order of messages differs sometimes. */
const MIN_HITS_PERCENT = 50;

/** A scenario whose faults are not injected proves nothing: the product may no longer send the expected message. */
export function expectHits(findings: Findings, hits: number, expected: number): void {
  if (hits * 100 < expected * MIN_HITS_PERCENT)
    findings.add('unproven', `only ${hits} of ${expected} faults were injected`);
}

const SENDERS = 8;
const PAUSE_MS = 10;
const ABANDON_PERCENT = 20;

/** The usual load on all replicas of a testbed. */
export function startLoad(testbed: Testbed, seed: number, senders = SENDERS): Load {
  const options = { senders, seed, pauseMs: PAUSE_MS, abandonPercent: ABANDON_PERCENT };
  return new Load({ maker: testbed.maker, sender: testbed.sender }, testbed.replicas, options).start();
}
