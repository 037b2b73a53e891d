/** What the ledger must know of a finished batch: which traces it touches, in which environment, and how much it adds. */
import type { Claim, TraceClaim } from '../../component/ledger.ts';
import { Rejection } from '../../errors.ts';
import type { Batch } from '../../model/batch.ts';
import { RECORD_END, RECORD_START, RECORD_TRACE_ID } from '../../model/layout.ts';
import type { Memory } from '../../model/memory.ts';

/** No record's time stands there. */
const NO_TIME = 0;

/** A trace while the records are gone through. Times are places of nanoseconds in the tables: only the outermost become numbers. */
interface OpenTraceClaim {
  readonly traceId: string;
  readonly environment: string;
  /** Byte addresses. */
  first: number;
  last: number;
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
  const environments: string[] = [];
  for (let resource = 0; resource < batch.resourceCount; resource++) environments.push(batch.environmentOf(resource));
  const { records, recordCount } = batch;
  const { memory } = batch.tables;
  const spans = batch.signal === 'traces';
  let claim: OpenTraceClaim | undefined;
  let claimed = 0; // the record that found it
  for (let index = 0; index < recordCount; index++) {
    const { address } = records.goto(index);
    if (!records.hasTraceId) continue;
    const environment = environments[records.resource] as string;
    // Most batches hold their spans trace by trace: the words are compared before any text is made.
    if (claim === undefined || !isSameTrace(memory, address, claimed)) {
      claim = claims.get(records.traceId) ?? openClaim(claims, records.traceId, environment);
      claimed = address;
    }
    if (claim.environment !== environment) {
      throw new Rejection('environment_mismatch', { expected: claim.environment, received: environment });
    }
    if (spans) widen(claim, memory, address);
  }
  return [...claims.values()]
    .sort((a, b) => (a.traceId < b.traceId ? -1 : 1))
    .map(({ traceId, environment, first, last }) => ({
      traceId,
      environment,
      firstNs: timeAt(memory, first),
      lastNs: timeAt(memory, last),
    }));
}

function openClaim(claims: Map<string, OpenTraceClaim>, traceId: string, environment: string): OpenTraceClaim {
  const claim = { traceId, environment, first: NO_TIME, last: NO_TIME };
  claims.set(traceId, claim);
  return claim;
}

function isSameTrace({ u32 }: Memory, left: number, right: number): boolean {
  const a = (left + RECORD_TRACE_ID) >>> 2;
  const b = (right + RECORD_TRACE_ID) >>> 2;
  return u32[a] === u32[b] && u32[a + 1] === u32[b + 1] && u32[a + 2] === u32[b + 2] && u32[a + 3] === u32[b + 3];
}

/** A span that does not say when it ended, or ended before it began, still covers its start. */
function widen(claim: OpenTraceClaim, memory: Memory, address: number): void {
  const start = address + RECORD_START;
  const end = address + RECORD_END;
  const last = isBefore(memory, start, end) ? end : start;
  if (claim.first === NO_TIME || isBefore(memory, start, claim.first)) claim.first = start;
  if (claim.last === NO_TIME || isBefore(memory, claim.last, last)) claim.last = last;
}

function isBefore({ u32 }: Memory, left: number, right: number): boolean {
  const a = left >>> 2;
  const b = right >>> 2;
  const [leftHigh, rightHigh] = [u32[a + 1] as number, u32[b + 1] as number];
  return leftHigh === rightHigh ? (u32[a] as number) < (u32[b] as number) : leftHigh < rightHigh;
}

function timeAt({ u64 }: Memory, address: number): bigint | null {
  return address === NO_TIME ? null : (u64[address >>> 3] as bigint);
}
