/**
 * Finds a member of a message by its name. The member that followed last time is compared first: senders write the
 * members of a message in one order, so nearly every name is matched by one comparison of its bytes and the quote
 * behind them. The snake_case spellings are in the table too, so that they are refused.
 */
import { HEADER_BASE } from '../../layout';

// A message is a head and its members. The head is a member without a name: its `next` is the member expected first.
const MEMBER_NEXT: usize = 0; // u32 address of the member that followed last time
const MEMBER_KIND: usize = 4; // u8 of the schema: how it is read
const MEMBER_INDEX: usize = 5; // u8 among the members of its message
const MEMBER_LENGTH: usize = 6; // u8 of the name
const MEMBER_IS_SNAKE: usize = 7; // u8
const MEMBER_FIELD: usize = 8; // u16 place in the row
const MEMBER_MORE: usize = 10; // u16 as the schema says
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

export function headOf(message: u32): usize {
  return MESSAGES + <usize>message * MESSAGE_BYTES;
}

export function kindOf(member: usize): u32 {
  return load<u8>(member, MEMBER_KIND);
}

export function fieldOf(member: usize): usize {
  return load<u16>(member, MEMBER_FIELD);
}

export function moreOf(member: usize): u32 {
  return load<u16>(member, MEMBER_MORE);
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
export function isNameAt(member: usize, at: usize): bool {
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
    if (load<u8>(member, MEMBER_LENGTH) == length && isNameAt(member, at)) return member;
  }
  for (let member = head + HEAD_BYTES; member < from; member += MEMBER_STRIDE) {
    if (load<u8>(member, MEMBER_LENGTH) == length && isNameAt(member, at)) return member;
  }
  return 0;
}

/** The message that is laid out, and the end of its members. */
let openHead: usize = 0;
let openEnd: usize = 0;

/** Begins the layout of a message. */
export function beginMessage(message: u32): void {
  if (openHead) endMessage();
  openHead = headOf(message);
  openEnd = openHead + HEAD_BYTES;
}

/** Adds a member to it. `field` and `more` are explained by the kinds of the schema. */
export function defineMember(name: string, kind: u32, field: usize = 0, more: u32 = 0): void {
  for (let i = 0; i < name.length; i++) store<u8>(openEnd + i, <u8>name.charCodeAt(i), MEMBER_NAME);
  store<u8>(openEnd, <u8>kind, MEMBER_KIND);
  store<u16>(openEnd, <u16>field, MEMBER_FIELD);
  store<u16>(openEnd, <u16>more, MEMBER_MORE);
  closeName(name.length, false);
}

/** Ends the name of `length` bytes of the last member. */
function closeName(length: usize, isSnake: bool): void {
  store<u8>(openEnd + length, QUOTE, MEMBER_NAME);
  store<u8>(openEnd, <u8>((openEnd - openHead - HEAD_BYTES) / MEMBER_STRIDE), MEMBER_INDEX);
  store<u8>(openEnd, <u8>length, MEMBER_LENGTH);
  store<u8>(openEnd, <u8>isSnake, MEMBER_IS_SNAKE);
  openEnd += MEMBER_STRIDE;
}

/** Ends the last message. Once per process. */
export function endMessages(): void {
  endMessage();
  openHead = 0;
  memory.fill(MASKS, 0xff, NAME_BYTES);
}

function endMessage(): void {
  const first = openHead + HEAD_BYTES;
  const end = openEnd;
  for (let member = first; member < end; member += MEMBER_STRIDE) defineSnake(member);
  store<u32>(openHead, <u32>openEnd, HEAD_END);
  expectAfter(openHead, first);
  for (let member = first; member < openEnd; member += MEMBER_STRIDE) {
    expectAfter(member, member + MEMBER_STRIDE < openEnd ? member + MEMBER_STRIDE : first);
  }
}

/** Adds the snake_case spelling of a member, if it has one of its own. */
function defineSnake(member: usize): void {
  let length: usize = 0;
  for (let i: usize = 0; i < nameLength(member); i++) {
    let character = load<u8>(member + i, MEMBER_NAME);
    if (character >= 0x41 && character <= 0x5a) {
      store<u8>(openEnd + length++, 0x5f, MEMBER_NAME);
      character |= 0x20;
    }
    store<u8>(openEnd + length++, character, MEMBER_NAME);
  }
  if (length > nameLength(member)) closeName(length, true);
}
