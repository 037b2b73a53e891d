/** What the ledger must know of a finished batch: which traces it touches, in which environment, and how much it adds. */
import type { Claim, TraceClaim } from '../../component/ledger.ts';
import { Rejection } from '../../errors.ts';
import type { Batch } from '../../model/batch.ts';
import { RECORD_TRACE_ID } from '../../model/layout.ts';

interface OpenTraceClaim extends TraceClaim {
  firstNs: bigint | null;
  lastNs: bigint | null;
}

/** Throws `environment_mismatch` when one trace stands in two environments within the request. */
export function makeClaim(batch: Batch, replayKey: Uint8Array): Claim {
  return {
    project: batch.context.project,
    signal: batch.signal,
    replayKey,
    traces: batch.signal === 'metrics' ? [] : claimTraces(batch),
    spanCount: batch.signal === 'traces' ? batch.recordCount : 0,
    recordCount: batch.recordCount,
  };
}

/** Spans and log records claim their trace; exemplars of metrics only refer to one. */
function claimTraces(batch: Batch): readonly TraceClaim[] {
  const claims = new Map<string, OpenTraceClaim>();
  const environments = Array.from({ length: batch.resourceCount }, (_, resource) => batch.environmentOf(resource));
  const { records } = batch;
  const words = batch.tables.memory.u64;
  let claim: OpenTraceClaim | undefined;
  let high = 0n;
  let low = 0n;
  for (let index = 0; index < batch.recordCount; index++) {
    records.goto(index);
    if (!records.hasTraceId) continue;
    const word = (records.address + RECORD_TRACE_ID) >>> 3;
    const environment = environments[records.resource] as string;
    // Most batches hold their spans trace by trace: the words are compared before any text is made.
    if (claim === undefined || words[word] !== high || words[word + 1] !== low) {
      high = words[word] as bigint;
      low = words[word + 1] as bigint;
      claim = claims.get(records.traceId) ?? openClaim(claims, records.traceId, environment);
    }
    if (claim.environment !== environment) {
      throw new Rejection('environment_mismatch', { expected: claim.environment, received: environment });
    }
    if (batch.signal === 'traces') widen(claim, records.startNs, records.endNs);
  }
  return [...claims.values()].sort((a, b) => (a.traceId < b.traceId ? -1 : 1));
}

function openClaim(claims: Map<string, OpenTraceClaim>, traceId: string, environment: string): OpenTraceClaim {
  const claim = { traceId, environment, firstNs: null, lastNs: null };
  claims.set(traceId, claim);
  return claim;
}

function widen(claim: OpenTraceClaim, startNs: bigint, endNs: bigint): void {
  const lastNs = endNs > startNs ? endNs : startNs;
  if (claim.firstNs === null || startNs < claim.firstNs) claim.firstNs = startNs;
  if (claim.lastNs === null || lastNs > claim.lastNs) claim.lastNs = lastNs;
}
