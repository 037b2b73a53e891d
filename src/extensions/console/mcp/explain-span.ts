/** The tool `explain_span`: which attribute filled which column of a span, and how its cost came about. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { SpanDetail } from '../api/shapes/spans.ts';
import { costOf, joined, tokensOf } from './figures.ts';
import { SPAN_ARGUMENT } from './get-span.ts';
import { TRACE_ARGUMENT } from './get-trace.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { MAX_ANSWER_BYTES, projectPath, type Tool } from './tool.ts';
import { block, explainMark, line, newMark } from './untrusted.ts';

const TEXT_BYTES = MAX_ANSWER_BYTES - 2048;

export const explainSpan: Tool = {
  name: 'explain_span',
  title: 'Explain a span',
  description:
    'How a span became a row: the dialect of its sender, which attribute filled which column, and how the cost came about (stated by the sender, or tokens times the price that was used).',
  properties: { project: PROJECT_ARGUMENT, trace: TRACE_ARGUMENT, span: SPAN_ARGUMENT },
  required: ['trace', 'span'],
  async run(values, { api, explain }) {
    const project = await projectOf(values, api);
    const [trace, span] = [values.text('trace').toLowerCase(), values.text('span').toLowerCase()];
    // Also refuses what the caller may not see.
    const detail = parseExact(await api.get(projectPath(project, ['traces', trace, 'spans', span]))) as SpanDetail;
    const stored = storedFacts(detail);
    if (explain === null || detail.attributes === undefined)
      return `${stored}\nWhich attribute filled each column: \`sluice explain ${detail.trace_id} --span ${detail.span_id}\`, or explain_span of \`sluice mcp\`, where the configuration is.`;
    const mark = newMark();
    const told = await explain({ project, trace: detail.trace_id, span: detail.span_id });
    return [stored, explainMark(mark), block(mark, 'explanation', told, TEXT_BYTES)].join('\n');
  },
};

/** What the row itself says. */
function storedFacts(span: SpanDetail): string {
  const cost = span.usage_scope === null ? 'no usage, so no cost' : `cost ${costOf(span.total_cost)}`;
  const source =
    span.cost_source === 'explicit'
      ? 'as the sender states it'
      : span.cost_source === 'derived'
        ? 'computed from tokens and a price'
        : span.usage_scope === null
          ? null
          : span.total_cost === null
            ? 'no price is known for every side'
            : null;
  return [
    joined(`span ${span.span_id}`, line(span.name), `dialect ${span.dialect === null ? 'none' : line(span.dialect)}`),
    joined(
      `category ${line(span.category ?? 'none')}`,
      `usage scope ${line(span.usage_scope ?? 'none')}`,
      tokensOf(span),
    ),
    joined(
      `model ${line(span.response_model ?? span.request_model ?? 'none')}`,
      `provider ${line(span.provider ?? 'none')}`,
      cost,
      source,
      `input ${costOf(span.input_cost)}, output ${costOf(span.output_cost)}`,
      span.price_id === null ? null : `price ${line(span.price_id, 300)}`,
    ),
    span.note === null ? `counts in totals: ${span.counts ? 'yes' : 'no'}` : `not counted in totals: ${span.note}`,
  ].join('\n');
}
