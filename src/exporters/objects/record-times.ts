/** The earliest and the latest time of the records of a batch, for readers that choose among parts. */
import { withinStorable } from '../../component/moment.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Signal } from '../../pdata/context.ts';
import type { RecordCursor } from '../../pdata/records.ts';
import type { Steps } from '../../pdata/steps.ts';

/** Records of one step. */
const STEP = 16384;
/** Times are compared as doubles. The difference is less than this. */
const ERROR_NS = 2048n;

/** Unix nanoseconds; each is at most some microseconds outside of the records. */
export interface RecordTimes {
  readonly firstNs: bigint;
  readonly lastNs: bigint;
}

/** Null when no record has a time. */
export function* timesOf(batch: Batch): Steps<RecordTimes | null> {
  const { records, recordCount, signal } = batch;
  let [first, last] = [Infinity, -Infinity];
  for (let index = 0; index < recordCount; index++) {
    if (index % STEP === STEP - 1) yield;
    const time = timeOf(records.goto(index), signal);
    if (time === null) continue;
    if (time < first) first = time;
    if (time > last) last = time;
  }
  if (first > last) return null;
  return { firstNs: withinStorable(BigInt(first) - ERROR_NS), lastNs: withinStorable(BigInt(last) + ERROR_NS) };
}

function timeOf(record: RecordCursor, signal: Signal): number | null {
  if (signal === 'traces') return record.startApproximateNs;
  if (signal === 'metrics') return record.endApproximateNs;
  return record.startApproximateNs || record.endApproximateNs || null;
}
