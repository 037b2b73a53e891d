/** The list of `sluice traces`: a line for each trace, within the width of the terminal. */
import { layOut, type Style, type Terminal } from '../terminal.ts';
import type { TraceRow } from '../traces-query.ts';
import { formatAge, formatCost, formatCount, formatTook, shortId } from './format.ts';
import { clean, cut, padLeft, widthOf } from './screen-text.ts';
import { describeBlocks } from './table.ts';
import { NS_PER_MS } from '../../pdata/time-units.ts';

/** Optional columns are left out where a name would get less. */
const SHORTEST_NAME = 32;
/** Where the terminal has no room for that. With less, each trace is a block of lines. */
const LEAST_NAME = 16;
/** The place of a column. */
const NAME = 2;
const OPTIONAL = new Set(['SERVICE', 'USER']);
/** Left out one after the other where the terminal has less room still: `sluice trace` shows them. */
const DISPENSABLE = ['SPANS', 'CALLS'];

export function describeTraces(rows: readonly TraceRow[], terminal: Terminal, nowMs: number): string {
  const { style } = terminal;
  const head = ['AGE', 'TRACE', 'NAME', 'SPANS', 'CALLS', 'TOKENS', 'COST', 'TOOK', 'ERRORS'];
  const cells = [head, ...rows.map((row) => cellsOf(row, style, nowMs))];
  const extra = extraColumns(rows);
  const named = (row: readonly string[]): readonly string[] =>
    row.map((cell, at) => (at === NAME ? style.bold(cell) : cell));
  const narrower = DISPENSABLE.map((_, at) => ({ shortest: LEAST_NAME, without: DISPENSABLE.slice(0, at + 1) }));
  for (const { shortest, without } of [
    { shortest: SHORTEST_NAME, without: [] },
    { shortest: LEAST_NAME, without: [] },
    ...narrower,
  ]) {
    const fitted = fitNames(withoutColumns(cells, without), extra, { width: terminal.width, shortest });
    const [first = [], ...others] = fitted;
    const table = layOut([first.map(style.dim), ...others.map(named)]);
    if (table.split('\n').every((line) => widthOf(line) <= terminal.tableWidth)) return table;
  }
  const [heads = [], ...whole] = withColumns(cells, extra);
  return describeBlocks(
    { heads: [heads], rows: whole.map((row) => row.map((cell, at) => (at === NAME ? clean(cell) : cell))) },
    terminal,
  );
}

function cellsOf(row: TraceRow, style: Style, nowMs: number): readonly string[] {
  return [
    formatAge(nowMs - Number(row.time_ns) / NS_PER_MS),
    shortId(row.trace_id),
    nameOf(row),
    String(row.span_count),
    row.model_call_count === 0 ? '' : String(row.model_call_count),
    row.input_tokens === null && row.output_tokens === null
      ? ''
      : `${formatCount(row.input_tokens)} → ${formatCount(row.output_tokens)}`,
    row.total_cost === null ? '' : formatCost(row.total_cost),
    formatTook(row.duration_ns),
    row.error_count === 0 ? '' : style.red(String(row.error_count)),
  ];
}

/** Columns that distinguish the rows, the most useful first. Each is its head and a cell for each row. */
function extraColumns(rows: readonly TraceRow[]): readonly (readonly string[])[] {
  const column = (head: string, widest: number, of: (row: TraceRow) => string | null): readonly string[] => [
    head,
    ...rows.map((row) => cut(of(row) ?? '', widest)),
  ];
  const columns = [
    column('PROJECT', 63, ({ project }) => project),
    column('ENVIRONMENT', 24, ({ environment }) => environment),
    column('SERVICE', 24, ({ service_name }) => service_name),
    column('USER', 24, ({ user_id }) => user_id),
  ];
  return columns.filter(([, ...cells]) => new Set(cells).size > 1);
}

/** A trace without its root is named by its earliest span. */
function nameOf({ root_name, first_name }: TraceRow): string {
  if (root_name !== null) return root_name;
  return first_name === null ? '(logs only)' : `… ${first_name}`;
}

function withoutColumns(
  rows: readonly (readonly string[])[],
  heads: readonly string[],
): readonly (readonly string[])[] {
  const [first = []] = rows;
  return rows.map((row) => row.filter((_, at) => !heads.includes(first[at] ?? '')));
}

const withColumns = (
  rows: readonly (readonly string[])[],
  extra: readonly (readonly string[])[],
): readonly (readonly string[])[] => rows.map((row, at) => [...row, ...extra.map((column) => column[at] ?? '')]);

/** Names get the width that the other columns leave; numbers are right-aligned. */
function fitNames(
  rows: readonly (readonly string[])[],
  extra: readonly (readonly string[])[],
  { width, shortest }: { readonly width: number; readonly shortest: number },
): readonly (readonly string[])[] {
  const whole = withColumns(rows, extra);
  const others = whole.map((row) => row.map((cell, at) => (at === NAME ? '' : cell)));
  const taken = Math.max(0, ...layOut(others).split('\n').map(widthOf));
  // Columns that distinguish projects and environments always stay.
  const optional = extra.filter(([head = '']) => OPTIONAL.has(head));
  if (width - taken < shortest && optional.length > 0)
    return fitNames(
      rows,
      extra.filter((column) => column !== optional.at(-1)),
      { width, shortest },
    );
  const tokens = rows[0]?.indexOf('TOKENS') ?? 0;
  const widest = Math.max(0, ...others.map((row) => row[tokens]?.length ?? 0));
  const room = Math.max(shortest, width - taken);
  return whole.map((row) =>
    row.map((cell, at) => (at === NAME ? cut(cell, room) : at === tokens ? padLeft(cell, widest) : cell)),
  );
}
