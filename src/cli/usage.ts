/** `sluice usage`: tokens and cost, each call counted once, and the calls without a price. */
import { LATEST_NS } from '../component/moment.ts';
import { loadUsage } from './lake/archived-range.ts';
import { nameText } from '../extensions/console/api/texts.ts';
import type { Command } from './command.ts';
import { LAKE_OPTION, withLake } from './lake/lake.ts';
import { sumCosts } from '../pdata/cost-sum.ts';
import { formatCost, formatCount, plural, UNKNOWN } from './view/format.ts';
import { describeStoredData, type StoredData, readStoredData } from './stored-data.ts';
import { Parameters, FILTER_OPTIONS, USAGE_EXPRESSIONS, usageConditions } from './filters.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { type Reader, READER_OPTIONS, type RowOf, shaped, sinceOf, sumOf, textOf, withReader } from './reader.ts';
import { asJson, cut } from './view/screen-text.ts';
import type { Terminal } from './terminal.ts';
import { describeTable, describeText } from './view/table.ts';

const DEFAULT_SINCE = '30d';
/** The number of conversations is large; the most expensive ones are shown. */
const SHOWN_ROWS = 50;
const WIDEST_NAME = 48;
const INDENT = '  ';

interface Group {
  readonly columns: readonly string[];
  readonly order: string;
}

const BY_COST = 'total_cost DESC NULLS LAST, call_count DESC';
/** The grouping of the rows, in SQL over the view `counted_usage`. */
const GROUPS: ReadonlyMap<string, Group> = new Map([
  ['model', { columns: ['provider', 'model'], order: BY_COST }],
  ['day', { columns: ['day'], order: 'key_day DESC' }],
  ['conversation', { columns: ['project', 'conversation_id'], order: BY_COST }],
  ['project', { columns: ['project', 'environment'], order: BY_COST }],
  ['environment', { columns: ['environment'], order: BY_COST }],
  ['service', { columns: ['service_name'], order: BY_COST }],
  ['user', { columns: ['project', 'user_id'], order: BY_COST }],
  ['agent', { columns: ['agent_name'], order: BY_COST }],
]);

const SUMS = {
  call_count: Number,
  unpriced_count: Number,
  input_tokens: sumOf,
  cache_read_tokens: sumOf,
  output_tokens: sumOf,
  total_cost: textOf,
};
interface UsageRow extends RowOf<typeof SUMS> {
  readonly names: Readonly<Record<string, string | null>>;
}

interface Unpriced {
  readonly provider: string | null;
  readonly model: string | null;
  readonly call_count: number;
}

interface Usage {
  readonly rows: readonly UsageRow[];
  readonly unpriced: readonly Unpriced[];
}

export const command: Command = {
  description:
    'A call that several spans report counts once. A call without a user, conversation or agent of its own has that of the\nnearest span above it, or else the only user or conversation that its trace names. An unknown cost is left out of the\nsums and its model is listed as unpriced; `sluice prices check` tells why. Days are in UTC. Text and the cost of a\ntrace select traces, not calls: use `sluice traces`.',
  options: {
    ...READER_OPTIONS,
    by: textOption('model|day|conversation|project|environment|service|user|agent', 'The grouping of the sums', {
      default: 'model',
    }),
    since: textOption('TIME', 'Calls since this time: 12h or 7d ago, or 2026-11-20T14:00Z; or all', {
      default: DEFAULT_SINCE,
    }),
    ...FILTER_OPTIONS,
    ...LAKE_OPTION,
    errors: flagOption('Only failed calls'),
    kept: flagOption('Also show the stored data with its age, retention and size'),
  },
  examples: [
    ['sluice usage', 'by model, over the last 30 days'],
    ['sluice usage --by day --since 7d --project shop', 'the last week of one project'],
    ['sluice usage --by user --model gpt-5-mini', 'the users of one model'],
  ],
  run: (call) => {
    const { values, terminal } = call;
    const by = values.word('by');
    const group = GROUPS.get(by);
    if (group === undefined) throw new UsageError(`--by takes ${[...GROUPS.keys()].join(', ')}, not "${by}"`);
    const filter = filterOf(values, group.columns);
    const range = { since: sinceOf(values, Date.now()), until: null, project: values.text('project') ?? null };
    const isJson = values.flag('json');
    return withReader(call, (reader) =>
      withLake(call, reader, { columns: 'figures' }, async (lake) => {
        if (lake !== null) await loadUsage(lake, range, filter.hasOwners);
        const { rows, unpriced } = await readUsage(lake?.reader ?? reader, group, filter);
        const stored = isJson || values.flag('kept') ? await readStoredData(reader) : null;
        if (isJson) {
          const usage = rows.map(({ names, ...sums }) => ({ ...names, ...sums }));
          terminal.print(asJson({ by, usage, total: sumUp(rows), unpriced, kept: stored }));
        } else {
          terminal.print(describe(group.columns, rows, unpriced, stored, terminal));
        }
      }),
    );
  },
};

/** The rows of usage `u` that are summed up. */
interface Filter {
  /** What follows FROM. `views`: the schema of the readable views. */
  readonly source: (views: string) => string;
  readonly values: readonly unknown[];
  /** Whether calls get the user, conversation or agent of spans above. */
  readonly hasOwners: boolean;
}

/** Columns of a call that names no value of its own; the option of each. */
const OWNED: ReadonlyMap<string, string> = new Map([
  ['conversation_id', 'conversation'],
  ['user_id', 'user'],
  ['agent_name', 'agent'],
]);

/**
 * With a time a function is asked, which reads an index; the view reads all usage. To find the users, conversations and
 * agents of calls takes longer, so that is asked for only where they are needed.
 */
function filterOf(values: Values, columns: readonly string[]): Filter {
  const parameters = new Parameters();
  const since = sinceOf(values, Date.now());
  const project = parameters.add(values.text('project') ?? null);
  const conditions = [
    `(${project}::text IS NULL OR u.project = ${project}::text)`,
    ...(values.flag('errors') ? ['u.is_error'] : []),
    ...usageConditions(values, parameters),
  ].join(' AND ');
  const owned = [...OWNED].flatMap(([column, option]) =>
    columns.includes(column) || values.text(option) !== undefined ? [column] : [],
  );
  const from = since === null && owned.length === 0 ? null : parameters.add(since);
  // Calls with a clock that is ahead count too.
  const range = `${project}::text, ${from}::int8, ${LATEST_NS}`;
  const attributed = owned.length === 0 ? null : parameters.add(owned);
  const rows = (views: string): string =>
    attributed !== null
      ? `${views}.attributed_usage_between(${range}, ${attributed}::text[])`
      : from === null
        ? `${views}.counted_usage`
        : `${views}.counted_usage_between(${range})`;
  const source = (views: string): string => `${rows(views)} u WHERE ${conditions}`;
  return { source, values: parameters.values, hasOwners: owned.length > 0 };
}

/**
 * The sums of the groups, and the calls without a price by model. One statement counts each call once for both: that
 * takes most of the time. With OFFSET 0 the columns of the two sets stay different ones. The rows of models come last.
 */
async function readUsage(reader: Reader, { columns, order }: Group, filter: Filter): Promise<Usage> {
  const keys = columns.map((column) => `${USAGE_EXPRESSIONS[column] ?? nameText(`u.${column}`)} AS key_${column}`);
  const group = columns.map((column) => `key_${column}`).join(', ');
  const found = await reader.query(
    `SELECT ${group}, of_provider, of_model, of_unpriced, call_count, unpriced_count, input_tokens, cache_read_tokens, output_tokens, total_cost
     FROM (
       SELECT ${group}, of_provider, of_model, GROUPING(${group}) > 0 AS of_unpriced, count(*) AS call_count,
         count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count, sum(input_tokens) AS input_tokens,
         sum(cache_read_tokens) AS cache_read_tokens, sum(output_tokens) AS output_tokens, sum(total_cost) AS total_cost
       FROM (
         SELECT ${keys.join(', ')}, ${nameText('u.provider')} AS of_provider, ${nameText('u.model')} AS of_model,
           u.input_tokens, u.cache_read_tokens, u.output_tokens, u.total_cost
         FROM ${filter.source(reader.views)}
         OFFSET 0
       ) c GROUP BY GROUPING SETS ((${group}), (of_provider, of_model))
     ) s WHERE NOT of_unpriced OR unpriced_count > 0
     ORDER BY of_unpriced, CASE WHEN of_unpriced THEN unpriced_count END DESC, of_provider, of_model, ${order}, ${group}`,
    filter.values,
  );
  const ofModels = found.filter((row) => row['of_unpriced'] === true);
  const unpriced = ofModels.map((row) => ({
    provider: textOf(row['of_provider']),
    model: textOf(row['of_model']),
    call_count: Number(row['unpriced_count']),
  }));
  const rows = found.slice(0, found.length - ofModels.length).map((row) => ({
    names: Object.fromEntries(columns.map((column) => [column, textOf(row[`key_${column}`])])),
    ...shaped(SUMS, row),
  }));
  return { rows, unpriced };
}

/** A sum is null where no row has the figure. */
function sumUp(rows: readonly UsageRow[]) {
  const count = (of: (row: UsageRow) => number): number => rows.reduce((total, row) => total + of(row), 0);
  const sum = (of: (row: UsageRow) => bigint | null): bigint | null =>
    rows.reduce<bigint | null>((total, row) => {
      const tokens = of(row);
      return tokens === null ? total : (total ?? 0n) + tokens;
    }, null);
  return {
    call_count: count(({ call_count }) => call_count),
    unpriced_count: count(({ unpriced_count }) => unpriced_count),
    input_tokens: sum(({ input_tokens }) => input_tokens),
    cache_read_tokens: sum(({ cache_read_tokens }) => cache_read_tokens),
    output_tokens: sum(({ output_tokens }) => output_tokens),
    total_cost: sumCosts(rows.map(({ total_cost }) => total_cost)),
  };
}

function describe(
  columns: readonly string[],
  rows: readonly UsageRow[],
  unpriced: readonly Unpriced[],
  stored: readonly StoredData[] | null,
  terminal: Terminal,
): string {
  const { style } = terminal;
  const lines: string[] = [];
  if (rows.length === 0) lines.push('No model calls match. Another time: `--since`.');
  else {
    const head = [
      ...columns.map((column) => column.replace(/_(?:id|name)$/u, '').toUpperCase()),
      'CALLS',
      'INPUT',
      'CACHED',
      'OUTPUT',
      'COST',
    ];
    const total = sumUp(rows);
    const body = [
      ...rows
        .slice(0, SHOWN_ROWS)
        .map((row) => [...columns.map((name) => cut(row.names[name] ?? UNKNOWN, WIDEST_NAME)), ...sumsOf(row)]),
      [...columns.map((_, at) => (at === 0 ? 'total' : '')), ...sumsOf(total)],
    ];
    const last = body.length - 1;
    const shrinking = columns.map((_, at) => at);
    const paint = (text: string, row: number): string => (row === last ? style.bold(text) : text);
    lines.push(describeTable({ heads: [head], rows: body, shrinking, numbersFrom: columns.length, paint }, terminal));
    if (rows.length > SHOWN_ROWS)
      lines.push(style.dim(describeText(`… ${rows.length - SHOWN_ROWS} more rows; see all with --json`, terminal)));
  }
  if (unpriced.length > 0) {
    lines.push('', style.yellow(describeText('Without a price, and so not in the cost:', terminal)));
    const names = unpriced
      .slice(0, SHOWN_ROWS)
      .map(({ provider, model, call_count }) => [
        cut(`${provider ?? '(no provider)'} / ${model ?? '(no model)'}`, 2 * WIDEST_NAME),
        plural(call_count, 'call'),
      ]);
    const inner = { style, tableWidth: terminal.tableWidth - INDENT.length };
    const list = describeTable({ heads: [], rows: names, shrinking: [0] }, inner);
    const advice = describeText('`sluice prices check MODEL --provider P` tells why.', inner);
    lines.push(indented(list), style.dim(indented(advice)));
  }
  if (stored !== null) lines.push('', describeStoredData(stored, terminal));
  return lines.join('\n');
}

function sumsOf(row: Omit<UsageRow, 'names'>): readonly string[] {
  return [
    String(row.call_count),
    formatCount(row.input_tokens),
    formatCount(row.cache_read_tokens),
    formatCount(row.output_tokens),
    formatCost(row.total_cost),
  ];
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => INDENT + line)
    .join('\n');
