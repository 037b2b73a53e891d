/**
 * Lists that were sent as one attribute for each leaf, `llm.input_messages.0.message.role`, and are stored as one
 * object of these keys.
 */
import { isObject, type Json, type JsonObject } from '../pdata/exact-json.ts';

const INDEXED = /^[^.]+(?:\.[^.]+)*?\.\d{1,6}(?:\.|$)/u;
/** Longer paths are not split further. */
const MAX_STEPS = 24;

type Node = Map<string, Node | Json>;

/** The list; undefined: the keys are not those of a list. */
export function unflatten(value: JsonObject): readonly Json[] | undefined {
  const keys = Object.keys(value);
  if (keys.length === 0 || !keys.every((key) => INDEXED.test(key))) return undefined;
  const root: Node = new Map();
  for (const key of keys) insert(root, key.split('.', MAX_STEPS), value[key] ?? null);
  let list: Json = built(root);
  while (isObject(list)) {
    const [only, ...others] = Object.values(list);
    if (only === undefined || others.length > 0) return undefined;
    list = only;
  }
  return Array.isArray(list) ? (list as readonly Json[]) : undefined;
}

function insert(root: Node, steps: readonly string[], value: Json): void {
  let node = root;
  for (const step of steps.slice(0, -1)) {
    let next = node.get(step);
    if (!(next instanceof Map)) {
      next = new Map();
      node.set(step, next);
    }
    node = next;
  }
  node.set(steps.at(-1) ?? '', value);
}

function built(node: Node): Json {
  const entries = [...node].map(([key, child]) => [key, child instanceof Map ? built(child) : child] as const);
  if (!entries.every(([key]) => /^\d+$/u.test(key))) return Object.fromEntries(entries);
  return entries.sort(([one], [other]) => Number(one) - Number(other)).map(([, child]) => child);
}
