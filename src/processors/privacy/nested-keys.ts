/**
 * Names inside a value: the keys of its maps, alone and with the keys above them. Senders and bridges of loggers nest
 * attributes in a map, and the content below a listed name is the same there.
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
/** Keys between two steps: to find the policy of a name takes some microseconds. */
const KEYS_STEP = 16;
/** Longer names are on no list. */
const MAX_NAME = 1024;

/** Whether a key of this JSON text is one of those wanted. `name` is the name of the value itself, or empty. */
export function* hasKey(json: string, name: string, isWanted: (name: string) => boolean): Steps<boolean> {
  /** The names of the maps and lists that are open. */
  const open: string[] = [];
  let current = name;
  let keys = 0;
  let pause = STEP;
  for (let at = 0; at < json.length; ) {
    if (at > pause || keys > KEYS_STEP) {
      pause = at + STEP;
      keys = 0;
      yield;
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const end = yield* endOfString(json, at);
      if (json.charAt(end) === ':') {
        const key = JSON.parse(json.slice(at, end)) as string;
        current = joined(open.at(-1) ?? '', key);
        keys++;
        if (isWanted(key) || (current !== key && isWanted(current))) return true;
      }
      at = end;
      continue;
    }
    if (code === OPEN_MAP || code === OPEN_LIST) open.push(current);
    else if (code === CLOSE_MAP || code === CLOSE_LIST) current = open.pop() ?? '';
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

function joined(above: string, key: string): string {
  const length = above.length + 1 + key.length;
  return above === '' || length > MAX_NAME ? key : `${above}.${key}`;
}
