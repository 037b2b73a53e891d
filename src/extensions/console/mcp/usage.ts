/** The tool `usage`: tokens, cost, errors and times of model calls by a group; and the same of tools. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { ToolUsage, Usage, UsageFigures } from '../api/shapes/usage.ts';
import { costOf, joined, millis, missingLines, plural, timeOf, tokensOf } from './figures.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { FILTER, FROM, TO } from './search-traces.ts';
import { fitLines, MAX_ANSWER_BYTES, projectPath, type Tool, ToolFault } from './tool.ts';
import { line } from './untrusted.ts';

const GROUPS = ['model', 'provider', 'user', 'service', 'agent', 'conversation', 'environment', 'none', 'tool'];
const DEFAULT_LIMIT = 20;
const HIGHEST_LIMIT = 100;
const POINTS = 48;
const HEAD_BYTES = 1024;

export const usage: Tool = {
  name: 'usage',
  title: 'Usage and cost',
  description:
    'Sums over model calls, each counted once, highest cost first: calls, tokens, cost, calls without a price, errors, latency. With group "tool": calls, errors and times of tools, slowest first, each with its slowest span. Default: the last 24 hours by model.',
  properties: {
    project: PROJECT_ARGUMENT,
    group: { type: 'string', enum: GROUPS, description: 'Default: model.' },
    interval: { type: 'string', description: 'Also sums for each interval, such as 1h or 1d; not for group "tool".' },
    from: FROM,
    to: TO,
    filter: {
      ...FILTER,
      description: 'Only calls that match, such as `model:gpt-5*`, `conversation:c-1`, `unpriced`, `error`.',
    },
    environment: { type: 'string', description: 'Only this environment.' },
    limit: { type: 'integer', minimum: 1, maximum: HIGHEST_LIMIT, description: `Groups. Default: ${DEFAULT_LIMIT}.` },
  },
  required: [],
  async run(values, { api }) {
    const project = await projectOf(values, api);
    const group = values.text('group') || 'model';
    const interval = values.text('interval');
    const limit = values.count('limit', DEFAULT_LIMIT);
    const range = { from: values.text('from'), to: values.text('to'), env: values.text('environment') };
    const query = { ...range, q: values.text('filter') };
    if (group === 'tool') {
      if (interval !== '') throw new ToolFault('group "tool" takes no interval');
      return toolText(parseExact(await api.get(projectPath(project, ['tools'], query))) as ToolUsage, limit);
    }
    const answer = await api.get(projectPath(project, ['usage'], { ...query, group, interval }));
    return usageText(parseExact(answer) as Usage, { limit, points: interval !== '' });
  },
};

function usageText(
  { from, to, group, interval, series, total, before, ...part }: Usage,
  { limit, points }: { readonly limit: number; readonly points: boolean },
): string {
  // Otherwise users that only a span above the call names are left out.
  const users = group === 'user' ? `${total.user_count} users` : null;
  const head = [
    `model calls ${timeOf(from)} to ${timeOf(to)} by ${group}${points ? `, each ${interval}` : ''}`,
    `total: ${joined(figuresOf(total), users, `cost of the range before: ${costOf(before.total_cost)}`)}`,
    ...missingLines(part),
  ];
  const groups = group === 'none' ? series.slice(0, 1) : series;
  const lines = groups.slice(0, limit).flatMap(({ key, total: sums, points: each }) => {
    const title = `${line(nameOf(key), 200)}: ${figuresOf(sums)}`;
    const rest = each.length > POINTS ? [`  … ${each.length - POINTS} earlier intervals`] : [];
    const shown = each.slice(-POINTS).map(([ns, sum]) => `  ${timeOf(ns)} ${figuresOf(sum)}`);
    return points ? [title, ...rest, ...shown] : group === 'none' ? [] : [title];
  });
  const more = groups.length > limit ? [`… ${groups.length - limit} more groups; ask with a higher limit`] : [];
  const left = (count: number): string => `… ${count} more lines; ask for less`;
  return [...head, ...fitLines([...lines, ...more], MAX_ANSWER_BYTES - HEAD_BYTES, left)].join('\n');
}

const nameOf = (key: Usage['series'][number]['key']): string =>
  'other' in key
    ? '(all others)'
    : Object.values(key)
        .map((value) => value ?? '(unknown)')
        .join('/');

function figuresOf(sums: UsageFigures): string {
  return joined(
    plural(sums.call_count, 'call'),
    tokensOf(sums),
    `cost ${costOf(sums.total_cost)}`,
    sums.unpriced_count > 0 && `${sums.unpriced_count} without price`,
    sums.error_count > 0 && plural(sums.error_count, 'error'),
    sums.p50_ms === null ? null : `p50 ${millis(sums.p50_ms)} p95 ${millis(sums.p95_ms)}`,
  );
}

function toolText({ from, to, items, examined, complete, ...part }: ToolUsage, limit: number): string {
  const head = `tools ${timeOf(from)} to ${timeOf(to)}, highest p95 first; ${plural(examined, 'step')} examined${complete ? '' : ', the newest of the range'}`;
  const lines = items
    .slice(0, limit)
    .map((item) =>
      joined(
        `${line(item.tool ?? '(unnamed)')}: ${plural(item.call_count, 'call')}`,
        item.error_count > 0 && plural(item.error_count, 'error'),
        `p50 ${millis(item.p50_ms)} p95 ${millis(item.p95_ms)} max ${millis(item.max_ms)}`,
        `slowest: trace ${item.slowest.trace_id} span ${item.slowest.span_id}`,
      ),
    );
  const left = (count: number): string => `… ${count} more`;
  return [head, ...missingLines(part), ...fitLines(lines, MAX_ANSWER_BYTES - HEAD_BYTES, left)].join('\n');
}
