/** The lines of the timeline: the tree of spans without what is folded. */
import type { Span, Spans } from './spans.ts';
import { endOf } from './spans.ts';

/** Siblings of one name and category next to each other, from this number on, are one line. */
const RUN = 6;

export type Line =
  | {
      readonly kind: 'span';
      readonly key: string;
      readonly span: Span;
      readonly depth: number;
      readonly isOpen: boolean | null;
    }
  | {
      readonly kind: 'run';
      readonly key: string;
      readonly spans: readonly Span[];
      readonly depth: number;
      readonly isOpen: boolean;
    }
  | {
      readonly kind: 'missing';
      readonly key: string;
      readonly spans: readonly Span[];
      readonly depth: number;
      readonly isOpen: boolean;
    };

/** Keys of lines that the reader folded or unfolded. Spans are unfolded at first, runs are folded. */
export interface Folding {
  readonly folded: ReadonlySet<string>;
  readonly unfolded: ReadonlySet<string>;
}

export const NOTHING_FOLDED: Folding = { folded: new Set(), unfolded: new Set() };

export const keyOf = (span: Span): string => `${span.id}.${span.index}`;

interface Task {
  readonly line: Line;
  readonly below: readonly Span[];
  /** Runs are made among them. */
  readonly group: boolean;
}

/** Not recursive: a trace may be a chain of ten thousand spans. */
export function linesOf(spans: Spans, folding: Folding, hidden: ((span: Span) => boolean) | null): readonly Line[] {
  const lines: Line[] = [];
  const tasks: Task[] = [];
  const push = (below: readonly Span[], depth: number, group: boolean): void => {
    const shown = hidden === null ? below : below.filter((span) => !hidden(span));
    tasks.push(...tasksOf(shown, depth, group && hidden === null, folding).reverse());
  };
  for (const [parent, children] of [...spans.withoutParent].reverse()) {
    const key = `missing.${parent}`;
    const isOpen = !folding.folded.has(key);
    const line: Line = { kind: 'missing', key, spans: children, depth: 0, isOpen };
    tasks.push({ line, below: isOpen ? children : [], group: true });
  }
  push(spans.roots, 0, false);
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    lines.push(task.line);
    if (task.below.length > 0) push(task.below, task.line.depth + 1, task.group);
  }
  return lines;
}

function tasksOf(below: readonly Span[], depth: number, group: boolean, folding: Folding): Task[] {
  const tasks: Task[] = [];
  for (let at = 0; at < below.length; ) {
    const span = below[at];
    if (span === undefined) break;
    const end = group ? endOfRun(below, at) : at + 1;
    if (end - at >= RUN) {
      const key = `run.${keyOf(span)}`;
      const run = below.slice(at, end);
      const isOpen = folding.unfolded.has(key);
      tasks.push({ line: { kind: 'run', key, spans: run, depth, isOpen }, below: isOpen ? run : [], group: false });
    } else {
      for (const each of below.slice(at, end)) tasks.push(taskOf(each, depth, folding));
    }
    at = end;
  }
  return tasks;
}

function taskOf(span: Span, depth: number, folding: Folding): Task {
  const key = keyOf(span);
  const isOpen = span.children.length === 0 ? null : !folding.folded.has(key);
  return { line: { kind: 'span', key, span, depth, isOpen }, below: isOpen === true ? span.children : [], group: true };
}

/** Only leaves without an error are joined, so no error is hidden. */
function endOfRun(below: readonly Span[], from: number): number {
  const first = below[from];
  let at = from;
  for (;;) {
    const span = below[at];
    const isSame = span !== undefined && span.name === first?.name && span.category === first.category;
    if (!isSame || span.children.length > 0 || span.isError) return Math.max(at, from + 1);
    at += 1;
  }
}

export function withFold(folding: Folding, line: Line, open: boolean): Folding {
  const folded = new Set(folding.folded);
  const unfolded = new Set(folding.unfolded);
  if (line.kind === 'run') {
    if (open) unfolded.add(line.key);
    else unfolded.delete(line.key);
  } else if (open) folded.delete(line.key);
  else folded.add(line.key);
  return { folded, unfolded };
}

/** Unfolds everything above a span. */
export function revealed(folding: Folding, spans: Spans, span: Span): Folding {
  const folded = new Set(folding.folded);
  const unfolded = new Set(folding.unfolded);
  let top = span;
  for (let above = span.parent; above !== null; above = above.parent) {
    folded.delete(keyOf(above));
    top = above;
  }
  if (top.missing !== null) folded.delete(`missing.${top.missing}`);
  for (const line of linesOf(spans, { folded, unfolded }, null)) {
    if (line.kind === 'run' && line.spans.includes(span)) unfolded.add(line.key);
  }
  return { folded, unfolded };
}

/** The spans that decide the duration: from the end backwards, always the child that ended last. */
export function criticalPath(spans: Spans): ReadonlySet<Span> {
  const path = new Set<Span>();
  const longest = [...spans.roots].sort((a, b) => endOf(b) - endOf(a))[0];
  const tasks: { span: Span; until: number }[] =
    longest === undefined ? [] : [{ span: longest, until: endOf(longest) }];
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) {
    path.add(task.span);
    let until = Math.min(task.until, endOf(task.span));
    const children = [...task.span.children].sort((a, b) => endOf(b) - endOf(a));
    for (const child of children) {
      if (child.start >= until || endOf(child) > until + 1e-9) continue;
      tasks.push({ span: child, until });
      until = child.start;
    }
  }
  return path;
}

/** The parts of a span without a child, as ranges of milliseconds. */
export function selfTime(span: Span): readonly (readonly [number, number])[] {
  const parts: [number, number][] = [];
  let at = span.start;
  const end = endOf(span);
  for (const child of span.children) {
    if (child.start > at) parts.push([at, Math.min(child.start, end)]);
    at = Math.max(at, endOf(child));
    if (at >= end) break;
  }
  if (at < end) parts.push([at, end]);
  return parts;
}

export const matches = (span: Span, text: string): boolean => {
  const wanted = text.toLowerCase();
  return [span.name, span.model, span.tool, span.service, span.category, span.id].some(
    (each) => each?.toLowerCase().includes(wanted) === true,
  );
};
