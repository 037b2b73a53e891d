/** The strict indexer of OTLP/JSON: one pass over the body, directly into the tables. */
import { FAIL_JSON, INPUT_BASE } from '../../layout';
import { fail } from '../fail';
import { resetMembers, skipSpace } from './members';
import { readRequest } from './messages';
import { resetNumbers } from './number';
import { defineMessages } from './schema';

/** Lays out the names of members; once per process. */
export function initializeJson(): void {
  defineMessages();
}

/** Checks and indexes the body of `length` bytes at INPUT_BASE, whose UTF-8 the host has checked. */
export function indexJson(signal: u32, length: u32): void {
  const end = <usize>INPUT_BASE + length;
  // JSON contains no zero byte, so every scan ends here at the latest.
  v128.store(end, i8x16.splat(0));
  resetMembers(true);
  resetNumbers();
  const last = skipSpace(readRequest(skipSpace(INPUT_BASE), signal));
  if (last != end) fail(FAIL_JSON, last);
}
