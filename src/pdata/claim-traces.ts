/** Reads which traces the records of a batch belong to. */
import { Rejection } from '../errors.ts';
import type { Batch } from './batch.ts';
import { ClaimedTraces, TraceList, type TraceOwner } from './claimed-traces.ts';
import { RECORD_END, RECORD_RESOURCE, RECORD_START, RECORD_STRIDE, RECORD_TRACE_ID, RECORDS_BASE } from './layout.ts';
import { KEY_WORDS } from './recent-keys.ts';
import type { Steps } from './steps.ts';

// Offsets in 32-bit words. A constant of this module is inlined; an imported one is read and checked at each use.
const RECORDS = RECORDS_BASE >>> 2;
const STRIDE = RECORD_STRIDE >>> 2;
const TRACE_ID = RECORD_TRACE_ID >>> 2;
const RESOURCE = RECORD_RESOURCE >>> 2;
const START = RECORD_START >>> 2;
const END = RECORD_END >>> 2;

/** Records or resources of one step. */
const STEP = 4096;
/** Bytes of one trace until the commit, with the space for sorting and for the index. */
const BYTES_PER_TRACE = 192;

/**
 * Spans and log records claim their trace; exemplars of metrics only refer to one. Throws `environment_mismatch` when a
 * trace has two environments within the request, and the errors of the row budget, because many traces take as much
 * memory as rows.
 */
export function* claimTraces(batch: Batch): Steps<ClaimedTraces> {
  if (batch.signal === 'metrics') return ClaimedTraces.none;
  const owners = yield* ownersOf(batch);
  const traces = new TraceList(owners.all, batch.recordCount);
  for (let first = 0; first < batch.recordCount; first += STEP) {
    if (first > 0) yield;
    const known = traces.count;
    enterRecords(batch, owners, traces, { first, end: Math.min(first + STEP, batch.recordCount) });
    batch.rowRoom.reserve((traces.count - known) * BYTES_PER_TRACE);
  }
  return yield* traces.sorted();
}

/** Enters the traces of the records of one step. It is no generator, because those are compiled to slower code. */
function enterRecords(
  batch: Batch,
  owners: Owners,
  traces: TraceList,
  { first, end }: { readonly first: number; readonly end: number },
): void {
  const { u32 } = batch.tables.memory;
  const { ofResource } = owners;
  const hasTimes = batch.signal === 'traces';
  const id = new Uint32Array(KEY_WORDS);
  let trace = -1;
  let entered = 0; // The record that entered it.
  for (let index = first, record = RECORDS + first * STRIDE; index < end; index++, record += STRIDE) {
    if (!hasTrace(u32, record)) continue;
    const owner = ofResource[u32[record + RESOURCE] as number] as number;
    // Most batches order their spans by trace.
    if (trace < 0 || !isSameTrace(u32, record, entered)) {
      for (let word = 0; word < KEY_WORDS; word++) id[word] = bigEndian(u32[record + TRACE_ID + word] as number);
      trace = traces.enter(id, 0, owner);
      entered = record;
    }
    const known = traces.ownerOf(trace);
    if (known !== owner) {
      const [expected, received] = [owners.all[known]?.environment ?? '', owners.all[owner]?.environment ?? ''];
      throw new Rejection('environment_mismatch', { expected, received });
    }
    if (hasTimes) traces.widen(trace, u32, record + START, record + lastTimeOf(u32, record));
  }
}

interface Owners {
  /** With different environments. */
  readonly all: readonly TraceOwner[];
  /** By resource: an index of `all`. */
  readonly ofResource: Uint32Array;
}

function* ownersOf(batch: Batch): Steps<Owners> {
  const project = batch.context.project.name;
  const all: TraceOwner[] = [];
  const numbers = new Map<string, number>();
  const ofResource = new Uint32Array(batch.resourceCount);
  for (let resource = 0; resource < ofResource.length; resource++) {
    if (resource % STEP === STEP - 1) yield;
    const environment = batch.environmentOf(resource);
    let number = numbers.get(environment);
    if (number === undefined) {
      number = all.push({ project, environment }) - 1;
      numbers.set(environment, number);
    }
    ofResource[resource] = number;
  }
  return { all, ofResource };
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
function lastTimeOf(u32: Uint32Array, record: number): number {
  const startHigh = u32[record + START + 1] as number;
  const endHigh = u32[record + END + 1] as number;
  const endsLater =
    startHigh === endHigh ? (u32[record + START] as number) < (u32[record + END] as number) : startHigh < endHigh;
  return endsLater ? END : START;
}

function bigEndian(word: number): number {
  return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}
