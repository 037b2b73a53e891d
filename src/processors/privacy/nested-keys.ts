/**
 * Names inside a value: the keys of its maps, alone and with the keys above them, also as a flattened list would have
 * them (`llm.input_messages.0.message`). Senders and bridges of loggers nest attributes in a map, and the content below
 * a listed name is the same there.
 */
import type { Steps } from '../../pdata/steps.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_MAP = 0x7b;
const OPEN_LIST = 0x5b;
const CLOSE_MAP = 0x7d;
const CLOSE_LIST = 0x5d;
/** Characters between two steps. */
const STEP = 65_536;
/** Names between two steps: to find the policy of a name takes some microseconds. */
const NAMES_STEP = 32;
/** Longer names are on no list. */
const MAX_NAME = 1024;
/** Keys and indexes above a key that complete a name: no listed name has more parts. */
const MAX_ABOVE = 6;
/** The index of each value of a list in a name. The patterns of names match every index. */
const INDEX = '0';

/** Whether a key of this JSON text is one of those wanted. `name` is the name of the value itself, or empty. */
export function* hasKey(json: string, name: string, isWanted: (name: string) => boolean): Steps<boolean> {
  /** The keys of the maps and lists that are open, and of the current value. */
  const open: string[] = [];
  let current = name;
  let names = 0;
  let pause = STEP;
  for (let at = 0; at < json.length; ) {
    if (at > pause || names > NAMES_STEP) {
      pause = at + STEP;
      names = 0;
      yield;
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = yield* endOfString(json, at);
      if (json.charAt(end) === ':') {
        current = JSON.parse(json.slice(at, end)) as string;
        for (const each of namesOf(current, open)) {
          if (isWanted(each)) return true;
          names++;
        }
      }
      at = end;
      continue;
    }
    if (code === OPEN_MAP || code === OPEN_LIST) {
      open.push(current);
      current = INDEX;
    } else if (code === CLOSE_MAP || code === CLOSE_LIST) {
      open.pop();
      current = INDEX;
    }
    at++;
  }
  return false;
}

/** Where the string that begins here ends. It may be the whole body. */
function* endOfString(json: string, begin: number): Steps<number> {
  let pause = begin + STEP;
  for (let at = begin + 1; at < json.length; at++) {
    if (at > pause) {
      pause = at + STEP;
      yield;
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return json.length;
}

/** The key alone, and with the keys above it: with the indexes of lists and without them. */
function* namesOf(key: string, above: readonly string[]): Generator<string> {
  yield key;
  let name = key;
  let indexed = key;
  for (let at = above.length - 1; at >= Math.max(above.length - MAX_ABOVE, 0); at--) {
    const next = above[at] as string;
    if (next === '' || indexed.length + next.length >= MAX_NAME) return;
    indexed = `${next}.${indexed}`;
    if (next === INDEX) continue;
    name = `${next}.${name}`;
    yield name;
    if (indexed !== name) yield indexed;
  }
}
