/**
 * The lines of a trace in the order in which they are drawn: each span below its parent, log records among its children
 * by time. A span whose parent is missing (late, lost, or beyond the limit) is drawn as a root. Cycles are broken.
 */
import type { LogRow, SpanRow } from './trace-record.ts';

export type TreeLine =
  | { readonly kind: 'span'; readonly span: SpanRow; readonly depth: number; readonly parentMissing: boolean }
  | { readonly kind: 'log'; readonly log: LogRow; readonly depth: number };

interface Branch {
  readonly entry: { readonly span: SpanRow } | { readonly log: LogRow };
  readonly time: bigint;
}

export function growTree(spans: readonly SpanRow[], logs: readonly LogRow[]): readonly TreeLine[] {
  const present = new Set(spans.map(({ span_id }) => span_id));
  const children = new Map<string | null, Branch[]>();
  const put = (parent: string | null, branch: Branch): void => {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [branch]);
    else siblings.push(branch);
  };
  for (const span of spans) {
    const { parent_span_id: parent, span_id } = span;
    const isChild = parent !== null && parent !== span_id && present.has(parent);
    put(isChild ? parent : null, { entry: { span }, time: BigInt(span.start_time_unix_nano) });
  }
  for (const log of logs) {
    const parent = log.span_id !== null && present.has(log.span_id) ? log.span_id : null;
    put(parent, { entry: { log }, time: BigInt(log.time_unix_nano ?? 0) });
  }
  for (const siblings of children.values()) siblings.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  return walk(spans, children, present);
}

/** Not recursive: a trace may be a chain of ten thousand spans. */
function walk(
  spans: readonly SpanRow[],
  children: ReadonlyMap<string | null, readonly Branch[]>,
  present: ReadonlySet<string>,
): readonly TreeLine[] {
  const lines: TreeLine[] = [];
  const drawn = new Set<SpanRow>();
  const opened = new Set<string>();
  const draw = (from: readonly Branch[]): void => {
    const waiting = from.map((branch) => ({ branch, depth: 0 })).reverse();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { branch, depth } = next;
      if ('log' in branch.entry) {
        lines.push({ kind: 'log', log: branch.entry.log, depth });
        continue;
      }
      const { span } = branch.entry;
      if (drawn.has(span)) continue;
      drawn.add(span);
      const { parent_span_id: parent } = span;
      lines.push({ kind: 'span', span, depth, parentMissing: parent !== null && !present.has(parent) });
      // Of two spans with the same id, the first gets the children.
      if (opened.has(span.span_id)) continue;
      opened.add(span.span_id);
      const below = children.get(span.span_id) ?? [];
      for (let at = below.length - 1; at >= 0; at -= 1) {
        const child = below[at];
        if (child !== undefined) waiting.push({ branch: child, depth: depth + 1 });
      }
    }
  };
  draw(children.get(null) ?? []);
  // Spans that no root leads to form a cycle; the earliest becomes the root.
  for (const span of spans) {
    if (!drawn.has(span)) draw([{ entry: { span }, time: 0n }]);
  }
  return lines;
}
