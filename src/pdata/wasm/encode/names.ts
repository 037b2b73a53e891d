/**
 * Keys of nested maps as printed names. U+0000 is printed as U+FFFD, so keys of different bytes may be one name; the
 * indexer records whether the request has keys with U+0000.
 */
import { nestedKeysHoldNul } from '../protobuf/value';
import { hashKey } from '../symbols';
import { sameBytes } from '../text';
import { REPLACEMENT, copyWithoutNul } from './json-text';
import { out, room } from './output';

/** Whether two keys are printed as the same name. */
export function sameName(left: usize, leftLength: u32, right: usize, rightLength: u32): bool {
  if (nestedKeysHoldNul) return samePrinted(left, left + leftLength, right, right + rightLength);
  return leftLength == rightLength && sameBytes(left, right, leftLength);
}

function samePrinted(left: usize, leftEnd: usize, right: usize, rightEnd: usize): bool {
  // How many bytes of a U+FFFD were passed already.
  let leftPart: u32 = 0;
  let rightPart: u32 = 0;
  while (left < leftEnd && right < rightEnd) {
    const a = <u32>load<u8>(left);
    const b = <u32>load<u8>(right);
    if ((a ? a : replacementByte(leftPart)) != (b ? b : replacementByte(rightPart))) return false;
    leftPart = a ? 0 : (leftPart + 1) % 3;
    rightPart = b ? 0 : (rightPart + 1) % 3;
    if (!leftPart) left++;
    if (!rightPart) right++;
  }
  return left == leftEnd && right == rightEnd;
}

function replacementByte(part: u32): u32 {
  return (REPLACEMENT >> (part << 3)) & 0xff;
}

/** The hash of the printed name of a key. */
export function hashName(offset: usize, length: u32): u32 {
  if (!nestedKeysHoldNul) return hashKey(offset, length);
  room(<usize>length * 3 + 32);
  return hashKey(out, <u32>(copyWithoutNul(out, offset, length) - out));
}
