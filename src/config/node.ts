/** The configuration as a tree that remembers where each key and value was written. */
import type { Problems } from './problem.ts';
import type { Origin } from './source.ts';

export type Scalar = string | number | boolean | null;

interface Placed {
  readonly origin: Origin;
  /** The exact text that a variable or file gave for this value: what an option of type text receives. */
  readonly raw?: string;
  /**
   * The references this value came from, as `${env:NAME}`. What a variable or a file holds may be a secret wherever it is used, so
   * messages show the references in place of the value.
   */
  readonly references?: string;
  /** What should stand here could not be found, which has been reported: nothing more is said about this place. */
  readonly missing?: true;
  /** What is wrong inside a file that stands here, should its text be taken for configuration: a secret may look like it. */
  readonly faults?: Problems;
}

export interface ScalarNode extends Placed {
  readonly kind: 'scalar';
  readonly value: Scalar;
}

export interface ListNode extends Placed {
  readonly kind: 'list';
  readonly items: readonly Node[];
}

export interface Entry {
  readonly key: Origin;
  readonly value: Node;
}

export interface MapNode extends Placed {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, Entry>;
}

export type Node = ScalarNode | ListNode | MapNode;
export type Path = readonly (string | number)[];

/** The node at a path, or the deepest one on the way to it. */
export function nodeAt(root: Node, path: Path): Node {
  let node = root;
  for (const step of path) {
    const next = childOf(node, step);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** Whether the path leads to, or through, something that could not be found. */
export function isMissing(root: Node, path: Path): boolean {
  let node: Node | undefined = root;
  for (const step of path) {
    if (node === undefined || node.missing === true) break;
    node = childOf(node, step);
  }
  return node?.missing === true;
}

export function childOf(node: Node, step: string | number): Node | undefined {
  if (node.kind === 'map') return node.entries.get(String(step))?.value;
  return node.kind === 'list' ? node.items[Number(step)] : undefined;
}

/** Where a key stands, when the path ends in a map's key; else where the value stands. */
export function keyOriginAt(root: Node, path: Path): Origin {
  const parent = nodeAt(root, path.slice(0, -1));
  const last = path.at(-1);
  const entry = parent.kind === 'map' && last !== undefined ? parent.entries.get(String(last)) : undefined;
  return entry?.key ?? nodeAt(root, path).origin;
}

/** `receivers.otlp.keys[0]`, as a user would say it; keys that hold dots are quoted. */
export function formatPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      const word = /^[\w/-]+$/u.test(step) ? step : JSON.stringify(step);
      return index === 0 ? word : `.${word}`;
    })
    .join('');
}

export function emptyMap(origin: Origin): MapNode {
  return { kind: 'map', entries: new Map(), origin };
}

/** The value itself, without regard to any schema. */
export function plainValueOf(node: Node): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValueOf);
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plainValueOf(entry.value)]));
}
