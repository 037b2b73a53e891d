import type { Claim } from '../../component/capabilities/ledger.ts';
import type { Batch } from '../../pdata/batch.ts';
import { claimTraces } from '../../pdata/claim-traces.ts';
import type { Steps } from '../../pdata/steps.ts';

/** Makes the claim of a processed batch. Throws the errors of `claimTraces`. */
export function* makeClaim(batch: Batch, replayKey: Uint8Array): Steps<Claim> {
  return {
    project: batch.context.project,
    signal: batch.signal,
    replayKey,
    traces: yield* claimTraces(batch),
    spanCount: batch.signal === 'traces' ? batch.recordCount : 0,
    recordCount: batch.recordCount,
  };
}
