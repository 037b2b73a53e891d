/** The encoders for the host: they encode records from `first` on, until enough bytes are at OUTPUT_BASE. */
import * as layout from '../../layout';
import { setCopying } from './columns';
import { forgetOrder } from './key-order';
import { putLog } from './logs';
import { beginOutput, out } from './output';
import { putPoint } from './points';
import { forgetRepeats } from './repeats';
import { putSpan, setPlain } from './spans';

function encodeRecords(first: u32): u32 {
  const count = load<u32>(layout.HEADER_BASE, layout.HEADER_RECORDS);
  const signal = load<u32>(layout.HEADER_BASE, layout.HEADER_SIGNAL);
  let next = first;
  beginOutput();
  forgetRepeats();
  forgetOrder();
  while (next < count && out - layout.OUTPUT_BASE < <usize>layout.ROWS_SOFT_LIMIT) {
    const record = <usize>layout.RECORDS_BASE + <usize>next * layout.RECORD_STRIDE;
    if (signal == layout.SIGNAL_TRACES) putSpan(record);
    else if (signal == layout.SIGNAL_LOGS) putLog(record);
    else putPoint(record);
    next += 1;
  }
  store<u32>(layout.HEADER_BASE, <u32>(out - layout.OUTPUT_BASE), layout.HEADER_OUTPUT_LENGTH);
  store<u32>(layout.HEADER_BASE, next - first, layout.HEADER_OUTPUT_ROWS);
  return next;
}

/** Encodes records as NDJSON lines; returns the first record that was not encoded. */
export function encodeNdjson(first: u32): u32 {
  setCopying(false);
  setPlain(false);
  return encodeRecords(first);
}

/** As `encodeNdjson`, to tuples of COPY BINARY without the header and trailer of its file. */
export function encodeCopy(first: u32): u32 {
  setCopying(true);
  setPlain(false);
  return encodeRecords(first);
}

/** As `encodeCopy`, of spans without the columns in which none has anything; see `arePlain`. */
export function encodePlainCopy(first: u32): u32 {
  setCopying(true);
  setPlain(true);
  return encodeRecords(first);
}
