/** The encoders for the host: they encode records from `first` on, until enough bytes are at OUTPUT_BASE. */
import {
  HEADER_BASE,
  HEADER_OUTPUT_LENGTH,
  HEADER_OUTPUT_ROWS,
  HEADER_RECORDS,
  HEADER_SIGNAL,
  OUTPUT_BASE,
  RECORDS_BASE,
  RECORD_STRIDE,
  ROWS_SOFT_LIMIT,
  SIGNAL_LOGS,
  SIGNAL_TRACES,
} from '../../layout';
import { setCopying } from './columns';
import { forgetOrder } from './key-order';
import { putLog } from './logs';
import { beginOutput, out } from './output';
import { putPoint } from './points';
import { forgetRepeats } from './repeats';
import { putSpan, setPlain } from './spans';

function encodeRecords(first: u32): u32 {
  const count = load<u32>(HEADER_BASE, HEADER_RECORDS);
  const signal = load<u32>(HEADER_BASE, HEADER_SIGNAL);
  let next = first;
  beginOutput();
  forgetRepeats();
  forgetOrder();
  while (next < count && out - OUTPUT_BASE < <usize>ROWS_SOFT_LIMIT) {
    const record = <usize>RECORDS_BASE + <usize>next * RECORD_STRIDE;
    if (signal == SIGNAL_TRACES) putSpan(record);
    else if (signal == SIGNAL_LOGS) putLog(record);
    else putPoint(record);
    next += 1;
  }
  store<u32>(HEADER_BASE, <u32>(out - OUTPUT_BASE), HEADER_OUTPUT_LENGTH);
  store<u32>(HEADER_BASE, next - first, HEADER_OUTPUT_ROWS);
  return next;
}

/** Encodes records as NDJSON lines; returns the first record that was not encoded. */
export function encodeNdjson(first: u32): u32 {
  setCopying(false);
  setPlain(false);
  return encodeRecords(first);
}

/** The same as tuples of COPY BINARY, without the header and trailer of its file. */
export function encodeCopy(first: u32): u32 {
  setCopying(true);
  setPlain(false);
  return encodeRecords(first);
}

/** The same for spans without the columns in which none has anything; see `arePlain`. */
export function encodePlainCopy(first: u32): u32 {
  setCopying(true);
  setPlain(true);
  return encodeRecords(first);
}
