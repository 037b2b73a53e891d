/** Time limits of the parts of a round. Large rounds get more time: a timeout would only repeat with every retry. */
import type { Claim } from '../../../component/capabilities/ledger.ts';
import type { Step } from '../wire-pipeline.ts';

/** From this size on a statement may take longer. Records and traces together. */
const LARGE_ITEMS = 20000;
const LARGE_MS_PER_ITEM = 0.5;
const LARGEST_STATEMENT_MS = 120000;
/** A round that takes longer has lost its connection in a way that the system does not report. */
const ROUND_MS = 30000;
/** A failed round is not repeated when its group is older than this, because its clients no longer wait. */
export const RETRY_WITHIN_MS = 60000;
/**
 * Another writer holds a trace or a counter for a group or two, and longer for a large request. A round of several
 * projects does not wait for it: the blocked project is settled apart. A round of one project uses the session's own
 * timeout.
 */
const IMPATIENT_LOCK_TIMEOUT_MS = 200;

/** Extra time for each statement of a large round; 0 for others. */
function extraMs(round: readonly Claim[]): number {
  const items = round.reduce((sum, { recordCount, traces }) => sum + recordCount + traces.count, 0);
  return items <= LARGE_ITEMS ? 0 : Math.min(LARGEST_STATEMENT_MS, Math.ceil(items * LARGE_MS_PER_ITEM));
}

/** The total rows of a round. */
export interface RowSums {
  readonly count: number;
  readonly bytes: number;
}

/** More rows than a group of small requests has. Small requests should not wait for its locks. */
const LONG_ROWS = 4096;
const LONG_BYTES = 2097152;

export const isLong = ({ count, bytes }: RowSums): boolean => count > LONG_ROWS || bytes > LONG_BYTES;

export function roundDeadlineMs(round: readonly Claim[]): number {
  return ROUND_MS + extraMs(round);
}

export function isMixed(round: readonly Claim[]): boolean {
  return round.some(({ project }) => project.name !== round[0]?.project.name);
}

const BEGIN: Step = { statement: { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' } };

/** The first steps of a round's transaction. `impatient`: requests of another project wait for its end. */
export function openingOf(round: readonly Claim[], impatient: boolean): readonly Step[] {
  const steps = [BEGIN];
  const ms = extraMs(round);
  // The connection is idle while a file exporter writes a large request.
  if (ms > 0) steps.push(setLocal('statement_timeout', ms), setLocal('idle_in_transaction_session_timeout', ms));
  if (impatient) steps.push(setLocal('lock_timeout', IMPATIENT_LOCK_TIMEOUT_MS));
  return steps;
}

const setLocal = (name: string, value: number): Step => ({ statement: { text: `SET LOCAL ${name} = ${value}` } });
