/** The configuration as a tree. Each key and value has its place in the source. */
import type { Diagnostics } from './diagnostics.ts';
import type { Origin } from './source.ts';

export type Scalar = string | number | boolean | null;

interface Placed {
  readonly origin: Origin;
  /** The exact text of a variable or file: a text option receives this. */
  readonly raw?: string;
  /**
   * The references that this value came from, as `${env:NAME}`. The content of a variable or file may be secret
   * anywhere, so messages show the references instead of the value.
   */
  readonly references?: string;
  /** The value is nothing but one reference. */
  readonly isReference?: true;
  /** The value could not be resolved, which is already reported. No further problem is reported here. */
  readonly missing?: true;
  /**
   * Problems inside an included file. Reported only if its text is used as configuration, because a secret may look
   * like it.
   */
  readonly faults?: Diagnostics;
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

/** The node at a path, or the deepest existing node on the path. */
export function nodeAt(root: Node, path: Path): Node {
  let node = root;
  for (const step of path) {
    const next = childOf(node, step);
    if (next === undefined) return node;
    node = next;
  }
  return node;
}

/** Whether the configuration has a value at the path. */
export function isWritten(root: Node, path: Path): boolean {
  return path.reduce<Node | undefined>((node, step) => node && childOf(node, step), root) !== undefined;
}

/** Whether the path leads to or through a missing value. */
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

/** The place of the key when the path ends in a map's key, otherwise the place of the value. */
export function keyOriginAt(root: Node, path: Path): Origin {
  const parent = nodeAt(root, path.slice(0, -1));
  const last = path.at(-1);
  const entry = parent.kind === 'map' && last !== undefined ? parent.entries.get(String(last)) : undefined;
  return entry?.key ?? nodeAt(root, path).origin;
}

/** `receivers.otlp.keys[0]`; keys with dots are quoted. */
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

/** The value itself, without a schema. */
export function plainValueOf(node: Node): unknown {
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map(plainValueOf);
  return Object.fromEntries([...node.entries].map(([key, entry]) => [key, plainValueOf(entry.value)]));
}
