/** How long the parts of a round may take. Large ones get more: a timeout would only come back with every retry. */
import type { Claim } from '../../../component/capabilities/ledger.ts';
import type { Step } from '../wire-pipeline.ts';

/** From here on a statement may honestly take longer than an ordinary one. Records and traces together. */
const LARGE_ITEMS = 20000;
const LARGE_MS_PER_ITEM = 0.5;
const LARGEST_STATEMENT_MS = 120000;
/** A round that takes longer has lost its connection in some way the system does not report. */
const ROUND_MS = 30000;
/** A failed round is not repeated later than this after its group was begun: its clients have given up. */
export const RETRY_WITHIN_MS = 60000;
/**
 * Another writer holds a trace or a counter for a group or two, and longer for a large request. A round of several projects
 * does not wait for it: the project it concerns is settled apart. The session's own timeout holds for a round of one project.
 */
const IMPATIENT_LOCK_TIMEOUT_MS = 200;

/** Extra time for each statement of a large round; 0 for the others. */
function extraMs(round: readonly Claim[]): number {
  const items = round.reduce((sum, { recordCount, traces }) => sum + recordCount + traces.length, 0);
  return items <= LARGE_ITEMS ? 0 : Math.min(LARGEST_STATEMENT_MS, Math.ceil(items * LARGE_MS_PER_ITEM));
}

/** Rows of a round, together. */
export interface RowSums {
  readonly count: number;
  readonly bytes: number;
}

/** More rows than a group has: a request by itself, whose rows take longer than others should wait for its locks. */
const LONG_ROWS = 16384;
const LONG_BYTES = 8388608;

export const isLong = ({ count, bytes }: RowSums): boolean => count > LONG_ROWS || bytes > LONG_BYTES;

export function roundDeadlineMs(round: readonly Claim[]): number {
  return ROUND_MS + extraMs(round);
}

export function isMixed(round: readonly Claim[]): boolean {
  return round.some(({ project }) => project.name !== round[0]?.project.name);
}

const BEGIN: Step = { statement: { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' } };

/** The first steps of a round's transaction. `impatient`: another project's requests wait for its end. */
export function openingOf(round: readonly Claim[], impatient: boolean): readonly Step[] {
  const steps = [BEGIN];
  const ms = extraMs(round);
  // Nothing is sent to the server while a large request is written to a file.
  if (ms > 0) steps.push(setLocal('statement_timeout', ms), setLocal('idle_in_transaction_session_timeout', ms));
  if (impatient) steps.push(setLocal('lock_timeout', IMPATIENT_LOCK_TIMEOUT_MS));
  return steps;
}

const setLocal = (name: string, value: number): Step => ({ statement: { text: `SET LOCAL ${name} = ${value}` } });
