/** Whether known owners of traces contradict those that a request claims. */
import { Rejection } from '../errors.ts';
import type { ClaimedTraces, TraceOwner } from './claimed-traces.ts';
import type { Steps } from './steps.ts';

/** Traces compared in one step. */
const STEP = 4096;

/**
 * The refusal; null when there is none. A trace of another project decides before one of another environment, whatever
 * the order of the traces. `knownOwner`: of the trace whose id is at that place of the words of `traces`.
 */
export function* traceConflict(
  traces: ClaimedTraces,
  project: string,
  knownOwner: (place: number) => TraceOwner | undefined,
): Steps<Rejection | null> {
  let mismatch: Rejection | null = null;
  for (let index = 0; index < traces.count; index++) {
    if (index % STEP === STEP - 1) yield;
    const known = knownOwner(traces.placeOf(index));
    if (known === undefined) continue;
    if (known.project !== project) return new Rejection('trace_conflict');
    const { environment } = traces.ownerOf(index);
    if (known.environment !== environment)
      mismatch ??= new Rejection('environment_mismatch', { expected: known.environment, received: environment });
  }
  return mismatch;
}
