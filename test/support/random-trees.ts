/** Random traces for the tests of usage: trees, some of whose parents never arrive, sent in a random order. */
import type { Random } from './generators-random.ts';
import { send } from './otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, attributes } from './payloads.ts';

const BATCH = 400;

/** A span, or a log record that names the span `parent`. */
export interface TreeNode {
  readonly trace: string;
  readonly id: string;
  readonly parent: string | null;
  readonly isLog: boolean;
}

export const hexId = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** Trace `number` with 1 to `largest` nodes. One of `lost` names a parent that never arrives. */
export function randomTree(
  random: Random,
  { number, largest, lost }: { readonly number: number; readonly largest: number; readonly lost: number },
): readonly Omit<TreeNode, 'isLog'>[] {
  const ids = Array.from({ length: 1 + random.below(largest) }, (_, at) => hexId(number * 100 + at + 1, 16));
  return ids.map((id, at) => {
    const arrived = at === 0 || random.once(12) ? null : (ids[random.below(at)] ?? null);
    return { trace: hexId(number + 1, 32), id, parent: random.once(lost) ? hexId(900_000 + at, 16) : arrived };
  });
}

export interface NodeContents<Node> {
  /** The start of all spans and log records. */
  readonly startNs: bigint;
  attributesOf(node: Node): Readonly<Record<string, string | number>>;
}

/** Sends the nodes in several requests. All must be accepted. */
export async function sendNodes<Node extends TreeNode>(
  url: string,
  nodes: readonly Node[],
  { startNs, attributesOf }: NodeContents<Node>,
): Promise<void> {
  const spanOf = (node: Node): object =>
    aSpan({
      traceId: node.trace,
      spanId: node.id,
      ...(node.parent === null ? {} : { parentSpanId: node.parent }),
      start: startNs,
      attributes: attributesOf(node),
    });
  const logOf = (node: Node): object => ({
    timeUnixNano: String(startNs),
    traceId: node.trace,
    ...(node.parent === null ? {} : { spanId: node.parent }),
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: attributes(attributesOf(node)),
  });
  for (let from = 0; from < nodes.length; from += BATCH) {
    const batch = nodes.slice(from, from + BATCH);
    for (const [path, body] of [
      ['/v1/traces', aTraceRequest(batch.filter(({ isLog }) => !isLog).map(spanOf))],
      ['/v1/logs', aLogRequest(batch.filter(({ isLog }) => isLog).map(logOf))],
    ] as const) {
      const { status } = await send(url, { path, body: JSON.stringify(body) });
      if (status !== 200) throw new Error(`${path} was answered ${status}`);
    }
  }
}

export function byTrace<Node extends TreeNode>(nodes: readonly Node[]): ReadonlyMap<string, readonly Node[]> {
  const traces = new Map<string, Node[]>();
  for (const node of nodes) traces.set(node.trace, [...(traces.get(node.trace) ?? []), node]);
  return traces;
}
