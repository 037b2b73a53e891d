/** Ids and times, with OTLP's rules for all messages. */
import { FAIL_PAYLOAD } from '../../layout';
import { fail, failId } from '../fail';

const MAX_TIME: u64 = 0x7fffffffffffffff;

/** Copies a trace id of the body to a row. `absent`: whether it may be missing (empty). */
// @ts-ignore: decorator
@inline
export function storeTraceId(target: usize, start: usize, length: usize, absent: bool): void {
  if (length == 0 && absent) return;
  if (length != 16 || (load<u64>(start) | load<u64>(start, 8)) == 0) failId(start, length);
  store<u64>(target, load<u64>(start));
  store<u64>(target, load<u64>(start, 8), 8);
}

/** As `storeTraceId`, for a span id. */
// @ts-ignore: decorator
@inline
export function storeSpanId(target: usize, start: usize, length: usize, absent: bool): void {
  if (length == 0 && absent) return;
  if (length != 8 || load<u64>(start) == 0) failId(start, length);
  store<u64>(target, load<u64>(start));
}

/** Nanoseconds since 1970 in the range of every sink: a signed 64-bit number. */
// @ts-ignore: decorator
@inline
export function checkTime(time: u64, at: usize): void {
  if (time > MAX_TIME) fail(FAIL_PAYLOAD, at);
}

/** An enum by number; unknown numbers become 0 (unspecified). */
export function knownEnum(value: u64, highest: u32): u32 {
  return <u32>value > highest ? 0 : <u32>value;
}
