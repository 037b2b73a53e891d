/**
 * Merges several files from left to right: maps are merged, other values are replaced. Then applies the `--set`
 * options.
 */
import { parseEndpoint } from '../component/endpoint.ts';
import { type Entry, emptyMap, type Node } from './node.ts';
import { parseYaml } from './parse.ts';
import type { Diagnostics } from './diagnostics.ts';
import type { Origin, Source } from './source.ts';

/** A null on the right removes the value on the left; an empty map does not. */
export function merge(left: Node, right: Node): Node {
  if (left.kind !== 'map' || right.kind !== 'map') return right;
  const entries = new Map(left.entries);
  for (const [key, entry] of right.entries) {
    const known = entries.get(key);
    entries.set(key, known === undefined ? entry : { key: entry.key, value: merge(known.value, entry.value) });
  }
  return { ...right, entries };
}

/** `a.b.c=value`, the value as YAML; a key with dots is quoted. Null after a reported problem. */
export function parseSetting(text: string, diagnostics: Diagnostics): Node | null {
  const source: Source = { name: '--set', text };
  const whole: Origin = { source, offset: 0, length: text.length };
  const split = endOfPath(text);
  const steps = split === -1 ? [] : splitPath(text.slice(0, split));
  if (split === -1 || steps === null || steps.length === 0) {
    diagnostics.error(whole, 'not of the form path=value', 'as --set exporters.file.path=/tmp/telemetry.ndjson');
    return null;
  }
  const value = parseValue(text.slice(split + 1), diagnostics);
  if (value === null) return null;
  return steps.reduceRight<Node>(
    (inner, step) => {
      const key: Origin = { source, offset: step.offset, length: step.length };
      return { kind: 'map', entries: new Map([[step.name, { key, value: inner }]]), origin: key };
    },
    shift(value, source, split + 1),
  );
}

/** YAML reads `[::1]:4318` as a list with something behind it, and a shell removes the quotes that YAML needs. */
function parseValue(text: string, diagnostics: Diagnostics): Node | null {
  const source: Source = { name: '--set', text };
  const isAddress = text.startsWith('[') && parseEndpoint(text) !== null;
  if (!isAddress) return parseYaml(source, diagnostics);
  return { kind: 'scalar', value: text, origin: { source, offset: 0, length: text.length } };
}

interface Step {
  readonly name: string;
  readonly offset: number;
  readonly length: number;
}

function endOfPath(text: string): number {
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] === '=' && !quoted) return at;
  }
  return -1;
}

/** Null when a step is empty. The Collector's separator `::` is accepted as well. */
function splitPath(path: string): readonly Step[] | null {
  const steps: Step[] = [];
  let rest = 0;
  for (const match of path.matchAll(/("([^"]*)"|[^".:]+|:(?!:))+?(?=\.|::|$)(\.|::)?/gu)) {
    if (match.index !== rest) return null;
    const name = match[0].replace(/(\.|::)$/u, '');
    steps.push({ name: name.replaceAll('"', ''), offset: match.index, length: name.length });
    rest = match.index + match[0].length;
  }
  const complete = rest === path.length && !/(\.|::)$/u.test(path);
  return complete && steps.every((step) => step.name !== '') ? steps : null;
}

/** The value was parsed alone. Moves its places to their offset in the whole setting. */
function shift(node: Node, source: Source, by: number): Node {
  const origin = { source, offset: node.origin.offset + by, length: node.origin.length };
  if (node.kind === 'scalar') return { ...node, origin };
  if (node.kind === 'list') return { ...node, origin, items: node.items.map((item) => shift(item, source, by)) };
  const moved = { ...emptyMap(origin), entries: new Map<string, Entry>() };
  for (const [key, entry] of node.entries) {
    const keyOrigin = { source, offset: entry.key.offset + by, length: entry.key.length };
    moved.entries.set(key, { key: keyOrigin, value: shift(entry.value, source, by) });
  }
  return moved;
}
