/** The slim rows of a trace, and their tree as indented lines. */
import { type Count, parseExact } from '../../../pdata/exact-json.ts';
import type { SpanNote, SpansEnd, SpanTuple, SpanWords } from '../api/shapes/spans.ts';
import { type Api, ApiFault } from './tool.ts';
import { NS_PER_MS } from '../../../pdata/time-units.ts';

export interface OutlineSpan {
  readonly id: string;
  /** The id of the parent, which may be absent; null: a root. */
  readonly parent: string | null;
  readonly name: string;
  readonly model: string | null;
  readonly tool: string | null;
  /** Since the start of the trace. */
  readonly startNs: string;
  /** Milliseconds. */
  readonly duration: number | null;
  readonly error: boolean;
  readonly input: Count | null;
  readonly output: Count | null;
  readonly cached: Count | null;
  readonly cost: string | null;
  readonly note: SpanNote | null;
}

export interface FoundSpans {
  readonly spans: readonly OutlineSpan[];
  /** Null: there are no more. */
  readonly next: string | null;
}

/** Reads the NDJSON of `GET …/spans`. */
export async function readSpans(api: Api, path: string): Promise<FoundSpans> {
  const words: Record<keyof SpanWords, string[]> = { 'names+': [], 'services+': [], 'models+': [], 'tools+': [] };
  const spans: OutlineSpan[] = [];
  const [, ...lines] = (await api.get(path)).trimEnd().split('\n');
  for (const text of lines) {
    const value = parseExact(text) as SpanTuple | SpanWords | SpansEnd;
    if (Array.isArray(value)) spans.push(spanOf(value as unknown as SpanTuple, spans, words));
    else if ('end' in value) return { spans, next: value.next };
    else for (const [name, added] of Object.entries(value)) words[name as keyof SpanWords].push(...(added as string[]));
  }
  throw new ApiFault('internal', 'the answer was cut off');
}

function spanOf(
  tuple: SpanTuple,
  before: readonly OutlineSpan[],
  words: Readonly<Record<keyof SpanWords, readonly string[]>>,
): OutlineSpan {
  const [id, parent, name, , , start, duration, error, model, tool, input, output, cached, , cost, , , note] = tuple;
  const word = (kind: keyof SpanWords, at: number | null): string | null =>
    at === null ? null : (words[kind][at] ?? '');
  return {
    ...{ id, input, output, cached, cost, note },
    parent: typeof parent === 'number' ? (before[parent]?.id ?? null) : parent,
    name: word('names+', name) ?? '',
    model: word('models+', model),
    tool: word('tools+', tool),
    startNs: start,
    duration: duration === null ? null : Number(duration) / NS_PER_MS,
    error: error === 1,
  };
}

export interface SpanTree {
  /** Spans deeper than `depth` are counted in the line of their ancestor. */
  lines(depth: number, lineOf: (span: OutlineSpan, below: number) => string): readonly string[];
}

/** A span whose parent is absent, or in a circle, is a root. */
export function treeOf(spans: readonly OutlineSpan[]): SpanTree {
  const ids = new Set(spans.map(({ id }) => id));
  const children = new Map<string, OutlineSpan[]>();
  const roots: OutlineSpan[] = [];
  for (const span of spans) {
    const siblings =
      span.parent !== null && span.parent !== span.id && ids.has(span.parent) ? children.get(span.parent) : roots;
    if (siblings !== undefined) siblings.push(span);
    else children.set(span.parent ?? '', [span]);
  }
  return { lines: (depth, lineOf) => linesOf({ spans, roots, children }, depth, lineOf) };
}

interface Forest {
  readonly spans: readonly OutlineSpan[];
  readonly roots: readonly OutlineSpan[];
  readonly children: ReadonlyMap<string, readonly OutlineSpan[]>;
}

interface Place {
  readonly span: OutlineSpan;
  readonly depth: number;
}

function linesOf(
  { spans, roots, children }: Forest,
  deepest: number,
  lineOf: (span: OutlineSpan, below: number) => string,
): readonly string[] {
  const lines: string[] = [];
  const seen = new Set<OutlineSpan>();
  const walk = (root: OutlineSpan): void => {
    const open: Place[] = [{ span: root, depth: 0 }];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      const { span, depth } = place;
      if (seen.has(span)) continue;
      seen.add(span);
      const below = children.get(span.id) ?? [];
      const isFolded = depth + 1 >= deepest && below.length > 0;
      lines.push(`${'  '.repeat(depth)}${lineOf(span, isFolded ? takeBelow(span, children, seen) : 0)}`);
      if (!isFolded) for (const child of below.toReversed()) open.push({ span: child, depth: depth + 1 });
    }
  };
  for (const root of roots) walk(root);
  // The parents of these form a circle.
  for (const span of spans) if (!seen.has(span)) walk(span);
  return lines;
}

/** Marks the spans below as seen and counts them. */
function takeBelow(
  span: OutlineSpan,
  children: ReadonlyMap<string, readonly OutlineSpan[]>,
  seen: Set<OutlineSpan>,
): number {
  let count = 0;
  const open = [...(children.get(span.id) ?? [])];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    count += 1;
    open.push(...(children.get(next.id) ?? []));
  }
  return count;
}
