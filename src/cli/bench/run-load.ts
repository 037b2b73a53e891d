/**
 * The load of `sluice bench`: after a warm-up a closed loop over all connections, which finds the peak, and open loops
 * at parts of it; or one open loop at a given rate.
 */
import { Client, NO_ANSWER, NOT_SENT, type Outcome } from './client.ts';
import { quantile } from './figures.ts';
import { type Reading, readMeters, type Sources } from './meters.ts';
import type { Requests } from './requests.ts';

/** Parts of the peak. The last is more than the daemon can store. */
const SHARES = [0.5, 0.7, 0.9, 1.1];

export interface LoadPlan {
  readonly endpoint: string;
  readonly key: string;
  readonly requests: Requests;
  readonly spansPerRequest: number;
  readonly connections: number;
  /** The time of the warm-up and of each step. */
  readonly milliseconds: number;
  /** Spans a second; null to find the peak. */
  readonly rate: number | null;
  readonly sources: Sources;
  readonly signal: AbortSignal;
  /** After each step. */
  report(step: Step): void;
}

/** One load and its effect. Times in milliseconds, rates in spans a second; null without an answer or a reading. */
export interface Step {
  readonly load: string;
  /** Null in a closed loop, which offers what is taken. */
  readonly offered: number | null;
  readonly stored: number;
  readonly p50: number | null;
  readonly p99: number | null;
  /** Requests by status: `200`, `503`, or `none` without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Requests that found no free connection in time. */
  readonly notSent: number;
  readonly daemonCores: number | null;
  readonly databaseCores: number | null;
  readonly generatorCores: number;
}

export interface Run {
  readonly steps: readonly Step[];
  readonly spansStored: number;
  readonly before: Reading;
  readonly after: Reading;
}

/** Ends early, with the steps so far, when the signal is aborted or nothing is stored. */
export async function runLoad(plan: LoadPlan): Promise<Run> {
  const client = new Client(plan.endpoint, plan.key, { connections: plan.connections });
  const steps: Step[] = [];
  const before = await readMeters(plan.sources);
  try {
    for await (const step of stepsOf(plan, client)) {
      // Nothing was sent before the signal. The figures of a step without length mean nothing.
      if (plan.signal.aborted && Object.keys(step.answers).length === 0 && step.notSent === 0) break;
      steps.push(step);
      plan.report(step);
      if (plan.signal.aborted || step.stored === 0) break;
    }
  } finally {
    await client.close();
  }
  const stored = steps.reduce((sum, { answers }) => sum + (answers['200'] ?? 0), 0);
  return { steps, spansStored: stored * plan.spansPerRequest, before, after: await readMeters(plan.sources) };
}

async function* stepsOf(plan: LoadPlan, client: Client): AsyncGenerator<Step> {
  const { requests, spansPerRequest, connections, milliseconds, rate, signal } = plan;
  const atRate = (name: string, perSecond: number): Promise<Step> => {
    const rate = { perSecond: perSecond / spansPerRequest, milliseconds, signal };
    return measure(plan, { name, isOpen: true, send: () => client.atRate(requests, rate) });
  };
  const sendClosed = (): Promise<readonly Outcome[]> => {
    const end = performance.now() + milliseconds;
    return client.closedLoop(requests, connections, () => performance.now() >= end || signal.aborted);
  };
  const closed = (name: string): Promise<Step> => measure(plan, { name, isOpen: false, send: sendClosed });
  if (rate !== null) {
    yield await atRate('warm-up', rate);
    yield await atRate('rate', rate);
    return;
  }
  yield await closed('warm-up');
  const peak = await closed('peak');
  yield peak;
  for (const share of SHARES) yield await atRate(`${Math.round(share * 100)} %`, peak.stored * share);
}

interface Load {
  readonly name: string;
  /** Whether its rate is given. */
  readonly isOpen: boolean;
  send(): Promise<readonly Outcome[]>;
}

async function measure(plan: LoadPlan, { name, isOpen, send }: Load): Promise<Step> {
  const { spansPerRequest } = plan;
  const before = await readMeters(plan.sources);
  const started = performance.now();
  const outcomes = await send();
  const seconds = (performance.now() - started) / 1000;
  const offeredSeconds = plan.signal.aborted ? seconds : plan.milliseconds / 1000;
  const after = await readMeters(plan.sources);
  const stored = outcomes.filter(({ status }) => status === 200);
  const times = stored.map(({ ms }) => ms);
  const cores = (pick: (reading: Reading) => number | null): number | null => {
    const used = difference(pick(after), pick(before));
    return used === null ? null : used / seconds;
  };
  return {
    load: name,
    offered: isOpen ? (outcomes.length * spansPerRequest) / offeredSeconds : null,
    stored: (stored.length * spansPerRequest) / seconds,
    p50: times.length === 0 ? null : quantile(times, 0.5),
    p99: times.length === 0 ? null : quantile(times, 0.99),
    answers: answersOf(outcomes),
    notSent: outcomes.filter(({ status }) => status === NOT_SENT).length,
    daemonCores: cores(({ daemonSeconds }) => daemonSeconds),
    databaseCores: cores(({ databaseSeconds }) => databaseSeconds),
    generatorCores: (after.ownSeconds - before.ownSeconds) / seconds,
  };
}

function answersOf(outcomes: readonly Outcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of outcomes) {
    if (status === NOT_SENT) continue;
    const name = status === NO_ANSWER ? 'none' : String(status);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Null if one of the two could not be read. */
export function difference(after: number | null, before: number | null): number | null {
  return after === null || before === null ? null : after - before;
}
