/** The tools `schema` and `query_sql`. */
import { DERIVED_COLUMNS } from '../../../pdata/columns.ts';
import { FIELDS } from '../filter/fields.ts';
import { PROJECT_ARGUMENT, projectOf } from './projects.ts';
import { fitLines, MAX_ANSWER_BYTES, type Tool } from './tool.ts';
import { block, explainMark, line, newMark } from './untrusted.ts';

const ROWS_BYTES = MAX_ANSWER_BYTES - 1024;
const LONGEST_CELL = 400;
const LONGEST_STATEMENT = 8192;

/** The views that `query_sql` reads. */
export const SQL_VIEWS: Readonly<Record<string, string>> = {
  spans:
    'all spans: trace_id, span_id, parent_span_id, name, kind, status, status_message, start_time_unix_nano, end_time_unix_nano, duration_ns, events, links, attributes, resource, scope_name, received_at and the derived columns',
  logs: 'all log records: time_unix_nano, observed_time_unix_nano, severity_number, severity_text, event_name, body, trace_id, span_id, attributes, resource and the derived columns',
  metric_points: 'points: name, unit, type, time_unix_nano, value, count, sum, min, max, buckets, attributes',
  traces: 'one row a trace: totals without counting twice',
  steps: 'spans and log records with a category: time_unix_nano, duration_ns, name and the derived columns',
  model_calls: 'steps of category model_call',
  tool_steps: 'steps of category tool_step',
  retrievals: 'steps of category retrieval',
  counted_usage:
    'every model call once: time_unix_nano, provider, model, tokens, costs, trace_id, span_id, conversation_id, user_id, agent_name, service_name, latency_ms, is_error',
  conversations: 'one row a conversation',
  usage_daily: 'usage by day, environment, provider and model',
};

export const schema: Tool = {
  name: 'schema',
  title: 'Filter fields and columns',
  description: 'The fields of the filter language with their meaning, and the columns of the views for query_sql.',
  properties: {},
  required: [],
  async run(_values, { sql }) {
    const fields = [...FIELDS.values()].map(
      ({ name, kind, about }) => `  ${name}${kind === 'json' ? 'KEY' : ''}: ${about}`,
    );
    const views = Object.entries(SQL_VIEWS).map(([name, about]) => `  ${name}: ${about}`);
    const columns = DERIVED_COLUMNS.map(({ name }) => name).join(', ');
    return [
      'Filter: terms separated by spaces, all must hold. field:value, field:>value for figures, field:a,b for "or", -term negates, value* begins with, ~value contains, "text" searches in content. Fields:',
      ...fields,
      ...(sql === null
        ? ['query_sql is not offered here.']
        : ['Views of query_sql, which show one project:', ...views, `Derived columns: ${columns}`]),
    ].join('\n');
  },
};

export const querySql: Tool = {
  name: 'query_sql',
  title: 'Query by SQL',
  description:
    "One SELECT of PostgreSQL on the views of a project, read-only, with limits of time, rows and bytes. `schema` lists the views. Times are nanoseconds since 1970: time_unix_nano >= extract(epoch from now() - interval '1 day') * 1e9.",
  properties: {
    project: PROJECT_ARGUMENT,
    statement: { type: 'string', maxLength: LONGEST_STATEMENT, description: 'One SELECT, without a semicolon.' },
  },
  required: ['statement'],
  async run(values, { api, sql }) {
    if (sql === null) return 'query_sql is not offered here.';
    const project = await projectOf(values, api);
    const { columns, rows, more } = await sql({ project, statement: values.text('statement') });
    const mark = newMark();
    const lines = [columns, ...rows].map((row) =>
      row.map((cell) => (cell === null ? 'null' : line(cell, LONGEST_CELL))).join(' | '),
    );
    const left = (count: number): string => `… ${count} more rows did not fit`;
    const table = block(mark, 'rows', fitLines(lines, ROWS_BYTES, left).join('\n'), ROWS_BYTES);
    return [explainMark(mark), table, `${rows.length} rows${more ? ', more exist: add LIMIT or conditions' : ''}`].join(
      '\n',
    );
  },
};
