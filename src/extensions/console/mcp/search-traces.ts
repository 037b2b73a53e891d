/** The tool `search_traces`. */
import { parseExact } from '../../../pdata/exact-json.ts';
import type { Page } from '../api/shapes/answers.ts';
import type { TopTraces, TraceRow } from '../api/shapes/traces.ts';
import { costOf, joined, missingLines, plural, timeOf, tokensOf, tookOf } from './figures.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { type Argument, MAX_ANSWER_BYTES, fitLines, projectPath, type Tool, ToolFault } from './tool.ts';
import { line } from './untrusted.ts';

const DEFAULT_LIMIT = 10;
const HIGHEST_LIMIT = 50;
const LONGEST_ID = 200;

/** Arguments of time, which several tools have. */
export const FROM: Argument = {
  type: 'string',
  description:
    'The beginning of the range: RFC 3339, such as 2026-11-20T14:00:00Z, a time ago, such as -24h, or nanoseconds since 1970.',
};
export const TO: Argument = { type: 'string', description: 'The end of the range, as `from`. Default: now.' };
export const FILTER: Argument = {
  type: 'string',
  description:
    'Filter: terms as field:value, all must hold. Examples: `model:gpt-5* cost:>0.05`, `error`, `service:web -user:u-1`, `"timed out"`. `schema` lists the fields.',
};

export const searchTraces: Tool = {
  name: 'search_traces',
  title: 'Search traces',
  description:
    'Traces, newest first, or those with the highest cost, tokens, duration or number of errors. One line each, with ids for get_trace and get_conversation. A search is bounded: with "more", call again with the cursor.',
  properties: {
    project: PROJECT_ARGUMENT,
    filter: FILTER,
    environment: { type: 'string', description: 'Only this environment.' },
    from: FROM,
    to: TO,
    sort: {
      type: 'string',
      enum: ['newest', 'cost', 'tokens', 'duration', 'errors'],
      description:
        'Default: newest. The others take no filter; without `from` they are of the last 24 hours; duration and errors reach over at most one day.',
    },
    limit: { type: 'integer', minimum: 1, maximum: HIGHEST_LIMIT, description: `Lines. Default: ${DEFAULT_LIMIT}.` },
    cursor: { type: 'string', description: 'Continues an earlier answer with the same filter.' },
  },
  required: [],
  async run(values, { api }) {
    const project = await projectOf(values, api);
    const limit = String(values.count('limit', DEFAULT_LIMIT));
    const sort = values.text('sort') || 'newest';
    const range = { env: values.text('environment'), from: values.text('from'), to: values.text('to'), limit };
    if (sort !== 'newest') {
      if (values.text('filter') !== '' || values.text('cursor') !== '')
        throw new ToolFault(`sort "${sort}" takes neither filter nor cursor; sort "newest" takes both`);
      const { items, ...part } = parseExact(
        await api.get(projectPath(project, ['traces', 'top'], { ...range, by: sort })),
      ) as TopTraces;
      const end = items.length === 0 ? 'No traces in this range.' : `Highest ${sort} first.`;
      return shown(items, [...missingLines(part), end]);
    }
    const query = { ...range, q: values.text('filter'), cursor: values.text('cursor') };
    const page = parseExact(await api.get(projectPath(project, ['traces'], query))) as Page<TraceRow>;
    const looked = `${plural(page.items.length, 'trace')}, looked at ${page.examined} back to ${timeOf(page.reached)}.`;
    // A page that continues reads archived days later.
    const missing = page.next === null || page.unread !== undefined ? missingLines(page) : [];
    const more = page.next === null ? 'No more.' : `More: cursor ${page.next}`;
    return shown(page.items, [...missing, `${looked} ${more}`]);
  },
};

function shown(items: readonly TraceRow[], end: readonly string[]): string {
  const left = (count: number): string => `… ${count} more; ask with a smaller limit`;
  return [...fitLines(items.map(traceLine), MAX_ANSWER_BYTES - 2600, left), ...end].join('\n');
}

/** One trace: its id first. */
function traceLine(row: TraceRow): string {
  return joined(
    `${row.trace_id} ${timeOf(row.start_time_unix_nano)} ${row.complete ? '' : '… '}${line(row.name)}`,
    row.service === null ? null : `service ${line(row.service)}`,
    row.environment === 'default' ? null : `env ${line(row.environment)}`,
    tookOf(row.duration_ns),
    plural(row.span_count, 'span'),
    row.error_count > 0 && plural(row.error_count, 'ERROR'),
    row.model_call_count > 0 &&
      `${plural(row.model_call_count, 'call')} ${row.models.map((model) => line(model)).join(', ')}`.trim(),
    tokensOf(row),
    row.total_cost === null ? null : costOf(row.total_cost),
    row.unpriced_count > 0 && `${row.unpriced_count} without price`,
    row.user_id === null ? null : `user ${line(row.user_id)}`,
    row.conversation_id === null ? null : `conversation ${line(row.conversation_id, LONGEST_ID)}`,
  );
}
