/** The tool `get_trace`: totals, the tree of spans as an outline that fits, and what failed. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { SpanDetail } from '../api/shapes/spans.ts';
import type { TraceHeader } from '../api/shapes/traces.ts';
import { costOf, joined, millis, missingLines, plural, timeOf, tokensOf, tookOf } from './figures.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { type OutlineSpan, readSpans, treeOf } from './span-tree.ts';
import { type Api, type Argument, fitLines, projectPath, type Tool } from './tool.ts';
import { block, explainMark, line, newMark } from './untrusted.ts';
import { NS_PER_MS } from '../../../pdata/time-units.ts';

/** The limit of an answer. The outline gets the room that the header and the errors leave. */
const OUTLINE_BYTES = 13 * 1024;
const READ_SPANS = 5000;
const SHOWN_ERRORS = 3;
const LONGEST_MESSAGE = 700;
const SHOWN_MODELS = 5;
const DEEPEST = 60;

export const TRACE_ARGUMENT: Argument = { type: 'string', maxLength: 32, description: 'The trace id, 32 hex digits.' };

export const getTrace: Tool = {
  name: 'get_trace',
  title: 'Get a trace',
  description:
    'One trace: totals, cost by model, what failed and why, and an outline of its spans, at most 20 KB. Deep parts are folded; `under` shows the spans below one. get_span has everything about a span.',
  properties: {
    project: PROJECT_ARGUMENT,
    trace: TRACE_ARGUMENT,
    under: { type: 'string', maxLength: 16, description: 'Only this span and those below it.' },
    only: { type: 'string', enum: ['model', 'tool', 'error'], description: 'Only model calls, tool steps, or errors.' },
    after: { type: 'string', description: 'Continues the outline of a very large trace.' },
  },
  required: ['trace'],
  async run(values, { api }) {
    const project = await projectOf(values, api);
    const trace = values.text('trace').toLowerCase();
    const header = parseExact(await api.get(projectPath(project, ['traces', trace]))) as TraceHeader;
    const query = {
      limit: String(READ_SPANS),
      ...{ under: values.text('under'), only: values.text('only'), after: values.text('after') },
    };
    const found = await readSpans(api, projectPath(project, ['traces', trace, 'spans'], query));
    const errors = await readErrors(api, project, header);
    const read = plural(found.spans.length, 'span');
    const rest =
      found.next === null ? [] : [`The outline is of ${read} and counts no others. More spans: after ${found.next}`];
    return [...headerLines(header), ...missingLines(header), ...errors, ...outline(found.spans), ...rest].join('\n');
  },
};

function headerLines(header: TraceHeader): readonly string[] {
  const models = header.models
    .slice(0, SHOWN_MODELS)
    .map(({ provider, model, call_count: calls, ...sums }) =>
      joined(
        `  ${line(provider ?? 'unknown provider')}/${line(model ?? 'unknown model')}`,
        plural(calls, 'call'),
        tokensOf(sums),
        costOf(sums.total_cost),
        sums.unpriced_count > 0 && `${sums.unpriced_count} without price`,
      ),
    );
  const first = joined(
    `trace ${header.trace_id}`,
    line(header.name ?? 'log records only'),
    `${timeOf(header.start_time_unix_nano)}, ${tookOf(header.duration_ns)}`,
    header.complete ? null : 'the root span is not here yet',
  );
  const second = joined(
    `services ${header.services.map((name) => line(name, 60)).join(', ') || '-'}`,
    `env ${line(header.environment)}`,
    header.user_id === null ? null : `user ${line(header.user_id)}`,
    header.conversation_id === null ? null : `conversation ${line(header.conversation_id, 200)}`,
  );
  const third = joined(
    plural(header.span_count, 'span'),
    plural(header.error_count, 'error'),
    plural(header.model_call_count, 'model call'),
    plural(header.tool_step_count, 'tool step'),
    plural(header.retrieval_count, 'retrieval'),
    plural(header.log_count, 'log record'),
    tokensOf(header),
    `cost ${costOf(header.total_cost)}`,
  );
  return [first, second, third, ...(models.length === 0 ? [] : ['models, highest cost first:', ...models])];
}

/** The last spans that failed: they are deeper in the tree, and nearer to the cause. */
async function readErrors(
  api: Api,
  project: string,
  { trace_id: trace, error_count: count, start_time_unix_nano: first }: TraceHeader,
): Promise<readonly string[]> {
  if (count === 0) return [];
  const query = { only: 'error', order: 'newest', limit: String(SHOWN_ERRORS) };
  const { spans } = await readSpans(api, projectPath(project, ['traces', trace, 'spans'], query));
  const mark = newMark();
  const lines: string[] = [`errors (${count}), the latest of them first:`];
  let hasMessage = false;
  for (const { id, startNs } of spans) {
    // Several spans can have the same id.
    const start = String(BigInt(first ?? '0') + BigInt(startNs));
    const path = projectPath(project, ['traces', trace, 'spans', id], { start });
    const detail = parseExact(await api.get(path)) as SpanDetail;
    const type = detail.error_type === null ? 'no error type' : line(detail.error_type);
    lines.push(`  ${id} ${line(detail.name)} at +${millis(Number(startNs) / NS_PER_MS)}: ${type}`);
    const message = detail.status_message?.text ?? '';
    if (message === '') continue;
    hasMessage = true;
    lines.push(block(mark, `status_message of ${id}`, message, LONGEST_MESSAGE));
  }
  return hasMessage ? [explainMark(mark), ...lines] : lines;
}

/** The tree to the depth at which it fits. */
function outline(spans: readonly OutlineSpan[]): readonly string[] {
  const tree = treeOf(spans);
  const title = 'spans: id, name, duration, tokens, cost (indented below their parent):';
  for (const depth of [DEEPEST, 8, 5, 4, 3, 2, 1]) {
    const lines = tree.lines(depth, spanLine);
    const size = lines.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
    if (size <= OUTLINE_BYTES) return [title, ...lines];
  }
  const left = (count: number): string => `… ${count} more lines; use only, or under a span`;
  return [title, ...fitLines(tree.lines(1, spanLine), OUTLINE_BYTES, left)];
}

function spanLine(span: OutlineSpan, below: number): string {
  return joined(
    `${span.id} ${line(span.name, 80)}`,
    span.duration === null ? '-' : millis(span.duration),
    span.error && 'ERROR',
    span.model === null || span.name.includes(span.model) ? null : line(span.model, 60),
    span.tool === null || span.name.includes(span.tool) ? null : `tool ${line(span.tool, 60)}`,
    tokensOf({ input_tokens: span.input, output_tokens: span.output, cache_read_tokens: span.cached }),
    span.cost === null ? null : costOf(span.cost),
    span.note === null ? null : span.note === 'sum' ? 'a sum, not counted' : 'repeated, not counted',
    below > 0 && `+${plural(below, 'span')} below`,
  );
}
