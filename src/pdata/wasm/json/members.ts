/**
 * Walks JSON objects and arrays. `openMessage` and `nextMember` visit the members of a known message in any order:
 * names are matched, null means absent, unknown members are checked and skipped, and duplicate names are refused in any
 * spelling. `skipValue` checks any other JSON.
 */
import { FAIL_JSON, FAIL_PAYLOAD, HEADER_BASE, HEADER_SCRATCH, TEXT_JSON_ESCAPED } from '../../layout';
import { fail } from '../fail';
import { bitOf, expectAfter, expectedAfter, findMember, headOf, isNameAt, isSnake, kindOf, nameLength } from './fields';
import { addName, closeNames, namesMark, resetNames } from './names';
import { scanNumber } from './number';
import { mayPause } from '../pause';
import { QUOTE, decodeText, readText, scanString, textFlags, textLength, textOffset } from './text';

/** The limit of the nesting of unknown JSON. */
const MAX_UNKNOWN_DEPTH: u32 = 100;

// Open messages: the member read last, the head, the start of the object's unknown names, the members seen.
const FRAME_MEMBER: usize = 0;
const FRAME_HEAD: usize = 4;
const FRAME_NAMES: usize = 8;
const FRAME_SEEN: usize = 12;
const FRAME_BYTES: usize = 16;
/** AnyValue nests at most 100 levels, with three messages per level, below ten other messages. */
const FRAMES = memory.data(16 * 320, 16);
let frame: usize = 0;
/** Off while values are printed: they were checked, and the table of names uses the region of the output. */
let checksDuplicates: bool = true;

/** The kind of the member whose value `nextMember` returned. */
export let memberKind: u32 = 0;
/** The end of the last object or array that ended. */
export let endOfList: usize = 0;

/** Begins a walk. An earlier one may have been abandoned at any place. */
export function resetMembers(checks: bool): void {
  frame = FRAMES - FRAME_BYTES;
  checksDuplicates = checks;
  resetNames();
}

// @ts-ignore: decorator
@inline
export function skipSpace(at: usize): usize {
  return load<u8>(at) > 0x20 ? at : skipSpaces(at);
}

/** In blocks, because a body of 16 MiB may consist of spaces, and this loop does not pause. */
function skipSpaces(at: usize): usize {
  while (true) {
    const block = v128.load(at);
    const blanks = v128.or(i8x16.eq(block, i8x16.splat(0x20)), i8x16.eq(block, i8x16.splat(0x09)));
    const ends = v128.or(i8x16.eq(block, i8x16.splat(0x0a)), i8x16.eq(block, i8x16.splat(0x0d)));
    const others = i8x16.bitmask(v128.or(blanks, ends)) ^ 0xffff;
    if (others) return at + ctz(others);
    at += 16;
  }
}

// @ts-ignore: decorator
@inline
function expectByte(at: usize, character: u32): usize {
  if (load<u8>(at) != character) fail(FAIL_JSON, at);
  return at + 1;
}

/** The address of the value behind a name and its quote. */
// @ts-ignore: decorator
@inline
function skipColon(at: usize): usize {
  return skipSpace(expectByte(skipSpace(at), 0x3a));
}

/** The first element of the array at `at`, or 0 when it is empty; `endOfList` is set then. */
export function firstElement(at: usize): usize {
  at = skipSpace(expectByte(at, 0x5b));
  if (load<u8>(at) != 0x5d) return at;
  endOfList = at + 1;
  return 0;
}

/** The element after the one that ended at `at`, or 0 behind the last; `endOfList` is set then. */
// @ts-ignore: decorator
@inline
export function nextElement(at: usize): usize {
  mayPause();
  at = skipSpace(at);
  const character = <u32>load<u8>(at);
  if (character == 0x2c) return skipSpace(at + 1);
  if (character != 0x5d) fail(FAIL_JSON, at);
  endOfList = at + 1;
  return 0;
}

/** Enters the object at `at` as the message with that number, for `nextMember`. */
export function openMessage(at: usize, message: u32): usize {
  at = expectByte(at, 0x7b);
  frame += FRAME_BYTES;
  const head = <u32>headOf(message);
  store<u64>(frame, <u64>head | ((<u64>head) << 32), FRAME_MEMBER);
  store<u64>(frame, <u64>namesMark(), FRAME_NAMES);
  return at;
}

/**
 * The value of the next known member that is not null, from behind the last; `memberKind` is its kind. 0 at the end of
 * the object, with `endOfList` set.
 */
export function nextMember(at: usize): usize {
  const member = <usize>load<u32>(frame, FRAME_MEMBER);
  at = skipSpace(at);
  const character = <u32>load<u8>(at);
  if (member != <usize>load<u32>(frame, FRAME_HEAD)) {
    if (character != 0x2c) return closeMessage(at);
    at = skipSpace(at + 1);
  } else if (character == 0x7d) return closeMessage(at);
  return memberFrom(at, member);
}

/** The member whose value `nextMember` returned. */
export function currentMember(): usize {
  return load<u32>(frame, FRAME_MEMBER);
}

function closeMessage(at: usize): usize {
  endOfList = expectByte(at, 0x7d);
  closeNames(load<u32>(frame, FRAME_NAMES));
  frame -= FRAME_BYTES;
  return 0;
}

/** As `nextMember`, from the name at `at`; `previous` is the known member before it. */
function memberFrom(at: usize, previous: usize): usize {
  while (true) {
    mayPause();
    at = expectByte(at, QUOTE);
    let member = expectedAfter(previous);
    if (isNameAt(member, at)) at += nameLength(member) + 1;
    else {
      const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
      at = readText(at - 1);
      member = memberOfText(previous, at);
      // The decoded form is needed only for a name that is kept; otherwise scratch ends where it ended before.
      if (member || !checksDuplicates) store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
    }
    at = skipColon(at);
    if (!member) at = skipValue(at, 0);
    else {
      noteMember(member, at);
      if (load<u8>(at) != 0x6e) return at;
      at = skipWord(at, 0x6c6c756e, 4);
      previous = member;
    }
    at = skipSpace(at);
    if (load<u8>(at) != 0x2c) return closeMessage(at);
    at = skipSpace(at + 1);
  }
}

/** The member with the name that ends at `at`. 0 when the message has none; the name is kept then. */
function memberOfText(previous: usize, at: usize): usize {
  if (textFlags & TEXT_JSON_ESCAPED) decodeText();
  const member = findMember(load<u32>(frame, FRAME_HEAD), previous, textOffset, textLength);
  if (member) expectAfter(previous, member);
  else if (checksDuplicates) addName(textOffset, textLength, at);
  return member;
}

function noteMember(member: usize, at: usize): void {
  const bit = bitOf(member);
  const seen = load<u32>(frame, FRAME_SEEN);
  if ((seen & bit) != 0 || isSnake(member)) fail(FAIL_PAYLOAD, at);
  store<u32>(frame, seen | bit, FRAME_SEEN);
  store<u32>(frame, <u32>member, FRAME_MEMBER);
  memberKind = kindOf(member);
}

/** Skips `true`, `false` or `null`: `word` is its first four letters, `length` its length. */
function skipWord(at: usize, word: u32, length: usize): usize {
  if (load<u32>(at) != word || (length == 5 && load<u8>(at, 4) != 0x65)) fail(FAIL_JSON, at);
  return at + length;
}

/** Reads `true` or `false` into `boolValue`; returns the address behind it. */
export function readBool(at: usize): usize {
  boolValue = load<u8>(at) == 0x74;
  return boolValue ? skipWord(at, 0x65757274, 4) : skipWord(at, 0x736c6166, 5);
}
export let boolValue: bool = false;

/** Checks any JSON value; returns the address behind it. */
function skipValue(at: usize, depth: u32): usize {
  switch (<u32>load<u8>(at)) {
    case 0x22:
      return scanString(at + 1) + 1;
    case 0x7b:
      return skipObject(at + 1, depth + 1);
    case 0x5b:
      return skipArray(at, depth + 1);
    case 0x74:
      return skipWord(at, 0x65757274, 4);
    case 0x66:
      return skipWord(at, 0x736c6166, 5);
    case 0x6e:
      return skipWord(at, 0x6c6c756e, 4);
    default:
      return scanNumber(at);
  }
}

function skipArray(at: usize, depth: u32): usize {
  if (depth > MAX_UNKNOWN_DEPTH) fail(FAIL_PAYLOAD, at);
  for (let element = firstElement(at); element; ) element = nextElement(skipValue(element, depth));
  return endOfList;
}

function skipObject(at: usize, depth: u32): usize {
  if (depth > MAX_UNKNOWN_DEPTH) fail(FAIL_PAYLOAD, at);
  const names = namesMark();
  at = skipSpace(at);
  if (load<u8>(at) == 0x7d) return at + 1;
  while (true) {
    mayPause();
    at = readText(at);
    if (checksDuplicates) {
      if (textFlags & TEXT_JSON_ESCAPED) decodeText();
      addName(textOffset, textLength, at);
    }
    at = skipSpace(skipValue(skipColon(at), depth));
    if (load<u8>(at) != 0x2c) break;
    at = skipSpace(at + 1);
  }
  closeNames(names);
  return expectByte(at, 0x7d);
}
