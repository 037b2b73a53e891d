/** Makes the claim of a processed batch: its traces with their environment, and its number of records. */
import type { Claim, TraceClaim } from '../../component/capabilities/ledger.ts';
import { Rejection } from '../../errors.ts';
import type { Batch } from '../../pdata/batch.ts';
import {
  RECORD_END,
  RECORD_RESOURCE,
  RECORD_START,
  RECORD_STRIDE,
  RECORD_TRACE_ID,
  RECORDS_BASE,
} from '../../pdata/layout.ts';
import type { Memory } from '../../pdata/memory.ts';
import type { Steps } from '../../pdata/steps.ts';
import { sortInSteps } from './sort.ts';

// Offsets in 32-bit words. A constant of this module is inlined; an imported one is read and checked at each use.
const RECORDS = RECORDS_BASE >>> 2;
const STRIDE = RECORD_STRIDE >>> 2;
const TRACE_ID = RECORD_TRACE_ID >>> 2;
const RESOURCE = RECORD_RESOURCE >>> 2;
const START = RECORD_START >>> 2;
const END = RECORD_END >>> 2;

/** No record's time is at this address. */
const NO_TIME = 0;

/**
 * A trace while the records are read. Times are addresses in the tables; only the first and last are read as numbers.
 */
interface OpenTraceClaim {
  readonly traceId: string;
  readonly environment: string;
  /** Addresses in words. */
  first: number;
  last: number;
}

/** Records or traces of one step. */
const STEP = 1024;
/** Heap bytes of one trace until the commit, with the values that are bound to the statements of the ledger. */
const BYTES_PER_TRACE = 432;

/**
 * Throws `environment_mismatch` when a trace has two environments within the request, and the errors of the row budget,
 * because many traces take as much memory as rows.
 */
export function* makeClaim(batch: Batch, replayKey: Uint8Array): Steps<Claim> {
  return {
    project: batch.context.project,
    signal: batch.signal,
    replayKey,
    traces: batch.signal === 'metrics' ? [] : yield* claimTraces(batch),
    spanCount: batch.signal === 'traces' ? batch.recordCount : 0,
    recordCount: batch.recordCount,
  };
}

/** Spans and log records claim their trace; exemplars of metrics only refer to one. */
function* claimTraces(batch: Batch): Steps<readonly TraceClaim[]> {
  const open = yield* openClaims(batch);
  const sorted = yield* sortInSteps(open, (a, b) => (a.traceId < b.traceId ? -1 : 1));
  const { memory } = batch.tables;
  const claims: TraceClaim[] = [];
  for (const { traceId, environment, first, last } of sorted) {
    claims.push({ traceId, environment, firstNs: timeAt(memory, first), lastNs: timeAt(memory, last) });
    if (claims.length % STEP === 0) yield;
  }
  return claims;
}

function* openClaims(batch: Batch): Steps<readonly OpenTraceClaim[]> {
  const claims: OpenTraceClaim[] = [];
  const byTrace = new Map<string, OpenTraceClaim>();
  const environments = yield* environmentsOf(batch);
  const { records, recordCount } = batch;
  const { u32 } = batch.tables.memory;
  const spans = batch.signal === 'traces';
  let counted = 0;
  let claim: OpenTraceClaim | undefined;
  let claimed = 0; // The record that found it.
  for (let index = 0, record = RECORDS; index < recordCount; index++, record += STRIDE) {
    if (index % STEP === STEP - 1) {
      batch.rowRoom.reserve((claims.length - counted) * BYTES_PER_TRACE);
      counted = claims.length;
      yield;
    }
    if (!hasTrace(u32, record)) continue;
    const environment = environments[u32[record + RESOURCE] as number] as string;
    // Most batches order their spans by trace, so words are compared first, which makes no string.
    if (claim === undefined || !isSameTrace(u32, record, claimed)) {
      const { traceId } = records.goto(index);
      claim = byTrace.get(traceId);
      if (claim === undefined) {
        claim = { traceId, environment, first: NO_TIME, last: NO_TIME };
        byTrace.set(traceId, claim);
        claims.push(claim);
      }
      claimed = record;
    }
    if (claim.environment !== environment) {
      throw new Rejection('environment_mismatch', { expected: claim.environment, received: environment });
    }
    if (spans) widen(claim, u32, record);
  }
  batch.rowRoom.reserve((claims.length - counted) * BYTES_PER_TRACE);
  return claims;
}

function* environmentsOf(batch: Batch): Steps<readonly string[]> {
  const environments: string[] = [];
  for (let resource = 0; resource < batch.resourceCount; resource++) {
    environments.push(batch.environmentOf(resource));
    if (environments.length % STEP === 0) yield;
  }
  return environments;
}

function hasTrace(u32: Uint32Array, record: number): boolean {
  const id = record + TRACE_ID;
  return ((u32[id] as number) | (u32[id + 1] as number) | (u32[id + 2] as number) | (u32[id + 3] as number)) !== 0;
}

function isSameTrace(u32: Uint32Array, left: number, right: number): boolean {
  const a = left + TRACE_ID;
  const b = right + TRACE_ID;
  return u32[a] === u32[b] && u32[a + 1] === u32[b + 1] && u32[a + 2] === u32[b + 2] && u32[a + 3] === u32[b + 3];
}

/** A span without an end, or with an end before its start, covers its start. */
function widen(claim: OpenTraceClaim, u32: Uint32Array, record: number): void {
  const start = record + START;
  const end = record + END;
  const last = isBefore(u32, start, end) ? end : start;
  if (claim.first === NO_TIME || isBefore(u32, start, claim.first)) claim.first = start;
  if (claim.last === NO_TIME || isBefore(u32, claim.last, last)) claim.last = last;
}

function isBefore(u32: Uint32Array, left: number, right: number): boolean {
  const leftHigh = u32[left + 1] as number;
  const rightHigh = u32[right + 1] as number;
  return leftHigh === rightHigh ? (u32[left] as number) < (u32[right] as number) : leftHigh < rightHigh;
}

function timeAt({ u64 }: Memory, word: number): bigint | null {
  return word === NO_TIME ? null : (u64[word >>> 1] as bigint);
}
