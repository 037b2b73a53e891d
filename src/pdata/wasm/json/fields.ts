/**
 * Finds a member of a message by its name. The member that followed last time is compared first: senders write the
 * members of a message in one order, so nearly every name is matched by one comparison of its bytes and the quote
 * behind them. The snake_case spellings are in the table too, so that they are refused.
 */
import { HEADER_BASE } from '../../layout';
import { MEMBERS, MESSAGE_COUNT, NAMES } from './schema';

// A message is a head and its members. The head is a member without a name: its `next` is the member expected first.
const MEMBER_NEXT: usize = 0; // u32 address of the member that followed last time
const MEMBER_ID: usize = 4; // u8 number of the schema
const MEMBER_INDEX: usize = 5; // u8 among the members of its message
const MEMBER_LENGTH: usize = 6; // u8 of the name
const MEMBER_IS_SNAKE: usize = 7; // u8
const MEMBER_NAME: usize = 16; // NAME_BYTES: the name and a quote
const HEAD_END: usize = 4; // u32 address behind the last member

/** The longest name, `dropped_attributes_count`, fits with its quote. */
const NAME_BYTES: usize = 32;
const MEMBER_STRIDE: usize = 48;
const HEAD_BYTES: usize = 16;
/** Members of the largest message, a span, in both spellings. */
const MAX_MEMBERS: usize = 25;
const MESSAGE_BYTES: usize = HEAD_BYTES + MAX_MEMBERS * MEMBER_STRIDE;
/**
 * Not static data, which would be as many zeros in the module: a fixed place far above the memory that the compiler
 * uses.
 */
const MESSAGES: usize = HEADER_BASE - 65536;
/** The mask of the first n of 32 bytes begins at MASKS + 32 - n. */
const MASKS = memory.data(64, 16);
const QUOTE: u8 = 0x22;
const SPACE: i32 = 0x20;
const SEMICOLON: i32 = 0x3b;

export function headOf(message: u32): usize {
  return MESSAGES + <usize>message * MESSAGE_BYTES;
}

export function idOf(member: usize): u32 {
  return load<u8>(member, MEMBER_ID);
}

export function bitOf(member: usize): u32 {
  return 1 << (<u32>load<u8>(member, MEMBER_INDEX));
}

export function isSnake(member: usize): bool {
  return load<u8>(member, MEMBER_IS_SNAKE) != 0;
}

export function nameLength(member: usize): usize {
  return load<u8>(member, MEMBER_LENGTH);
}

export function expectedAfter(member: usize): usize {
  return load<u32>(member, MEMBER_NEXT);
}

export function expectAfter(member: usize, next: usize): void {
  store<u32>(member, <u32>next, MEMBER_NEXT);
}

/** Whether the member's name and a quote are at `at`. */
// @ts-ignore: decorator
@inline
export function stands(member: usize, at: usize): bool {
  const mask = MASKS + NAME_BYTES - 1 - <usize>load<u8>(member, MEMBER_LENGTH);
  const first = v128.and(v128.xor(v128.load(at), v128.load(member, MEMBER_NAME)), v128.load(mask));
  const second = v128.and(v128.xor(v128.load(at, 16), v128.load(member, MEMBER_NAME + 16)), v128.load(mask, 16));
  return !v128.any_true(v128.or(first, second));
}

/**
 * The member whose name of `length` bytes, followed by a quote, is at `at`, or 0. Tries the member after `previous`
 * first.
 */
export function findMember(head: usize, previous: usize, at: usize, length: u32): usize {
  const end = <usize>load<u32>(head, HEAD_END);
  const from = previous == head ? head + HEAD_BYTES : previous + MEMBER_STRIDE;
  for (let member = from; member < end; member += MEMBER_STRIDE) {
    if (load<u8>(member, MEMBER_LENGTH) == length && stands(member, at)) return member;
  }
  for (let member = head + HEAD_BYTES; member < from; member += MEMBER_STRIDE) {
    if (load<u8>(member, MEMBER_LENGTH) == length && stands(member, at)) return member;
  }
  return 0;
}

/** Lays out all messages; once per process. */
export function initializeFields(): void {
  memory.fill(MASKS, 0xff, NAME_BYTES);
  let from = 0;
  for (let message: u32 = 0; message < MESSAGE_COUNT; message++) from = defineMessage(message, from);
}

/** Lays out the message whose members begin at `from` of the schema; returns where those of the next one begin. */
function defineMessage(message: u32, from: i32): i32 {
  const head = headOf(message);
  let member = head + HEAD_BYTES;
  let index: u32 = 0;
  let at = from;
  for (; MEMBERS.charCodeAt(at) != SEMICOLON; at = wordAfter(MEMBERS, at))
    member = defineMember(member, at, index++, false);
  for (let name = from; name < at; name = wordAfter(MEMBERS, name)) {
    if (hasCapital(name)) member = defineMember(member, name, index++, true);
  }
  store<u32>(head, <u32>member, HEAD_END);
  const end = member;
  expectAfter(head, head + HEAD_BYTES);
  for (member = head + HEAD_BYTES; member < end; member += MEMBER_STRIDE) {
    expectAfter(member, member + MEMBER_STRIDE < end ? member + MEMBER_STRIDE : head + HEAD_BYTES);
  }
  return at + 1;
}

/** Writes the member with the name at `from` of the schema to `member`; returns the address behind it. */
function defineMember(member: usize, from: i32, index: u32, snake: bool): usize {
  let length: usize = 0;
  for (let at = from; MEMBERS.charCodeAt(at) != SPACE; at++) {
    let character = MEMBERS.charCodeAt(at);
    if (snake && isCapital(character)) {
      store<u8>(member + length++, 0x5f, MEMBER_NAME);
      character |= 0x20;
    }
    store<u8>(member + length++, <u8>character, MEMBER_NAME);
  }
  store<u8>(member + length, QUOTE, MEMBER_NAME);
  store<u8>(member, <u8>idOfName(from), MEMBER_ID);
  store<u8>(member, <u8>index, MEMBER_INDEX);
  store<u8>(member, <u8>length, MEMBER_LENGTH);
  store<u8>(member, <u8>snake, MEMBER_IS_SNAKE);
  return member + MEMBER_STRIDE;
}

/** The number of the name at `from` of the members: its place among the names. */
function idOfName(from: i32): u32 {
  let id: u32 = 1;
  for (let name = 0; !isSameWord(name, from); name = wordAfter(NAMES, name)) id++;
  return id;
}

function isSameWord(name: i32, from: i32): bool {
  for (; NAMES.charCodeAt(name) == MEMBERS.charCodeAt(from); name++, from++) {
    if (NAMES.charCodeAt(name) == SPACE) return true;
  }
  return false;
}

function wordAfter(text: string, from: i32): i32 {
  while (text.charCodeAt(from) != SPACE) from++;
  return from + 1;
}

function hasCapital(from: i32): bool {
  for (let at = from; MEMBERS.charCodeAt(at) != SPACE; at++) {
    if (isCapital(MEMBERS.charCodeAt(at))) return true;
  }
  return false;
}

function isCapital(character: i32): bool {
  return character >= 0x41 && character <= 0x5a;
}
