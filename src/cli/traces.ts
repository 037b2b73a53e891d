/** `sluice traces`: stored traces, newest first, one line each. */
import type { Command } from './command.ts';
import { formatAge, formatCost, formatCount, formatTook } from './view/format.ts';
import { limitOf, type Reader, READER_OPTIONS, type Row, sinceOf, sumOf, textOf, withReader } from './reader.ts';
import { asJson, cut, padLeft } from './view/screen-text.ts';
import { layOut, type Terminal } from './terminal.ts';

const DEFAULT_LIMIT = 20;
const HIGHEST_LIMIT = 1000;
/** Of 32 digits. `sluice trace` accepts a prefix of an id. */
const ID_DIGITS = 12;
const SHORTEST_NAME = 20;
const NS_PER_MS = 1_000_000;

/**
 * Like the view `traces`, but selects the newest traces before anything is counted. A trace of log records alone has no
 * start.
 */
const question = (views: string): string => `
  WITH newest AS MATERIALIZED (
    SELECT t.*, coalesce(t.first_ns, (extract(epoch FROM t.created_at) * 1000000)::int8 * 1000) AS time_ns FROM sluice.traces t
    WHERE ($1::text IS NULL OR t.project = $1) AND ($2::text IS NULL OR t.environment = $2)
      AND ($3::int8 IS NULL OR coalesce(t.first_ns, (extract(epoch FROM t.created_at) * 1000000)::int8 * 1000) >= $3)
      AND (NOT $4::bool OR EXISTS (SELECT FROM sluice.spans s WHERE s.project = t.project AND s.trace_id = t.trace_id
        AND s.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns AND (s.status = 'error' OR s.is_error)))
    ORDER BY time_ns DESC, t.trace_id LIMIT $5
  )
  SELECT encode(n.trace_id, 'hex') AS trace_id, n.project, n.environment, n.time_ns, n.first_ns AS start_time_unix_nano,
    CASE WHEN first.is_root THEN first.name END AS root_name, first.name AS first_name,
    s.span_count::int4, s.error_count::int4, s.model_call_count::int4, s.duration_ns,
    u.input_tokens, u.output_tokens, u.total_cost
  FROM newest n
  CROSS JOIN LATERAL (
    SELECT count(*) AS span_count, count(*) FILTER (WHERE status = 'error' OR is_error) AS error_count,
      count(*) FILTER (WHERE category = 'model_call') AS model_call_count,
      greatest(max(coalesce(end_time_unix_nano, start_time_unix_nano)) - min(start_time_unix_nano), 0) AS duration_ns
    FROM sluice.spans WHERE project = n.project AND trace_id = n.trace_id AND start_time_unix_nano BETWEEN n.first_ns AND n.last_ns
  ) s
  LEFT JOIN LATERAL (
    SELECT name, parent_span_id IS NULL AS is_root FROM sluice.spans
    WHERE project = n.project AND trace_id = n.trace_id AND start_time_unix_nano BETWEEN n.first_ns AND n.last_ns
    ORDER BY parent_span_id IS NOT NULL, start_time_unix_nano, span_id LIMIT 1
  ) first ON true
  CROSS JOIN LATERAL (
    SELECT sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(total_cost) AS total_cost
    FROM ${views}.counted_usage c WHERE c.project = n.project AND c.trace_id = n.trace_id
  ) u
  ORDER BY n.time_ns DESC, n.trace_id`;

interface TraceRow {
  readonly trace_id: string;
  readonly project: string;
  readonly environment: string;
  /** The start of the trace; for log records alone, their arrival. */
  readonly timeNs: string;
  readonly start_time_unix_nano: string | null;
  readonly root_name: string | null;
  readonly firstName: string | null;
  readonly duration_ns: string | null;
  readonly span_count: number;
  readonly error_count: number;
  readonly model_call_count: number;
  readonly input_tokens: bigint | null;
  readonly output_tokens: bigint | null;
  readonly total_cost: string | null;
}

export const tracesCommand: Command = {
  options: {
    ...READER_OPTIONS,
    environment: { type: 'text', short: 'e', value: 'NAME', description: 'Only this environment' },
    since: { type: 'text', value: 'DURATION', description: 'Only traces of the last 30m, 12h or 7d' },
    errors: { type: 'flag', description: 'Only those with an error' },
    limit: {
      type: 'text',
      short: 'n',
      value: 'N',
      description: 'The maximum number of traces',
      default: String(DEFAULT_LIMIT),
    },
  },
  examples: [
    ['sluice traces --since 1h', 'traces of the last hour'],
    ['sluice traces --errors --project shop', 'failed traces of one project'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const nowMs = Date.now();
    const since = sinceOf(values, nowMs);
    const limit = limitOf(values, HIGHEST_LIMIT);
    return withReader(call, async (reader) => {
      const filter = [values.text('project') ?? null, values.text('environment')?.trim().toLowerCase() ?? null];
      const rows = await readTraces(reader, [...filter, since, values.flag('errors'), limit]);
      if (values.flag('json')) terminal.print(asJson(rows.map(asData)));
      else terminal.print(describe(rows, terminal, nowMs));
      return 0;
    });
  },
};

async function readTraces(reader: Reader, values: readonly unknown[]): Promise<readonly TraceRow[]> {
  return (await reader.query(question(reader.views), values)).map((row: Row) => ({
    trace_id: String(row['trace_id']),
    project: String(row['project']),
    environment: String(row['environment']),
    timeNs: String(row['time_ns']),
    start_time_unix_nano: textOf(row['start_time_unix_nano']),
    root_name: textOf(row['root_name']),
    firstName: textOf(row['first_name']),
    duration_ns: textOf(row['duration_ns']),
    span_count: Number(row['span_count']),
    error_count: Number(row['error_count']),
    model_call_count: Number(row['model_call_count']),
    input_tokens: sumOf(row['input_tokens']),
    output_tokens: sumOf(row['output_tokens']),
    total_cost: textOf(row['total_cost']),
  }));
}

/** The column names of the view `traces`. */
function asData({ timeNs: _time, firstName: _name, ...row }: TraceRow) {
  return row;
}

function describe(rows: readonly TraceRow[], terminal: Terminal, nowMs: number): string {
  if (rows.length === 0) return 'No traces match. `sluice demo` sends an example.';
  const { style } = terminal;
  const manyProjects = new Set(rows.map(({ project }) => project)).size > 1;
  const manyEnvironments = new Set(rows.map(({ environment }) => environment)).size > 1;
  const head = ['AGE', 'TRACE', 'NAME', 'SPANS', 'CALLS', 'TOKENS', 'COST', 'TOOK', 'ERRORS'];
  const owner = [...(manyProjects ? ['PROJECT'] : []), ...(manyEnvironments ? ['ENVIRONMENT'] : [])];
  const cells = rows.map((row) => {
    const errors = row.error_count === 0 ? '' : style.red(String(row.error_count));
    return [
      formatAge(nowMs - Number(row.timeNs) / NS_PER_MS),
      row.trace_id.slice(0, ID_DIGITS),
      nameOf(row),
      String(row.span_count),
      row.model_call_count === 0 ? '' : String(row.model_call_count),
      row.input_tokens === null && row.output_tokens === null
        ? ''
        : `${formatCount(row.input_tokens)} → ${formatCount(row.output_tokens)}`,
      row.total_cost === null ? '' : formatCost(row.total_cost),
      formatTook(row.duration_ns),
      errors,
      ...(manyProjects ? [cut(row.project, 63)] : []),
      ...(manyEnvironments ? [cut(row.environment, 24)] : []),
    ];
  });
  const table = fitNames([[...head, ...owner], ...cells], terminal.width);
  const [first = [], ...others] = table;
  return layOut([
    first.map(style.dim),
    ...others.map((row) => row.map((cell, at) => (at === 2 ? style.bold(cell) : cell))),
  ]);
}

/** A trace without its root is named by its earliest span. */
function nameOf({ root_name, firstName }: TraceRow): string {
  if (root_name !== null) return root_name;
  return firstName === null ? '(logs only)' : `… ${firstName}`;
}

/** Names get the width that the other columns leave; numbers are right-aligned. */
function fitNames(rows: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  const NAME = 2;
  const others = rows.map((row) => row.map((cell, at) => (at === NAME ? '' : cell)));
  const taken = Math.max(
    ...layOut(others)
      .split('\n')
      .map((line) => line.length),
    0,
  );
  const widest = Math.max(0, ...others.map((row) => row[5]?.length ?? 0));
  const room = Math.max(SHORTEST_NAME, width - taken);
  return rows.map((row) =>
    row.map((cell, at) => (at === NAME ? cut(cell, room) : at === 5 ? padLeft(cell, widest) : cell)),
  );
}
