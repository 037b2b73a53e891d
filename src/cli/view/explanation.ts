/** Draws how a record became a row: dialect, columns with their sources, what lost, what is left over, the cost. */
import type { CostDerivation, Derivation, FilledColumn, Origin } from '../../component/capabilities/derivations.ts';
import { DERIVED_COLUMNS } from '../../pdata/columns.ts';
import type { Row } from '../reader.ts';
import { layOut, type Style } from '../terminal.ts';
import { clean, cut } from './screen-text.ts';

export interface Explained {
  readonly row: Row;
  readonly derivation: Derivation | null;
  readonly cost: CostDerivation | null;
  /** Columns that are stored with another value; empty for what is not stored. */
  readonly differences: readonly Difference[];
}

export interface Difference {
  readonly column: string;
  readonly stored: unknown;
  readonly now: unknown;
}

const MAX_VALUE = 48;
const MAX_SOURCE = 72;
/** Described in a section of their own. */
const COST_COLUMNS: readonly string[] = ['input_cost', 'output_cost', 'total_cost', 'cost_source', 'price_id'];
const ORDER = new Map<string, number>(DERIVED_COLUMNS.map(({ name }, index) => [name, index]));

export function drawExplanation({ row, derivation, cost, differences }: Explained, style: Style): string {
  const kind = row['signal'] === 'span' ? `span ${shown(row['span_id'])}` : 'log record';
  const name = row['signal'] === 'span' ? row['name'] : row['event_name'];
  const lines = [style.bold(`${kind}  ${shown(name)}`)];
  if (derivation?.dialect === null || derivation === null) lines.push('  no dialect: nothing says that it is about AI');
  else lines.push(`  dialect ${clean(derivation.dialect)}, found by ${clean(derivation.evidence ?? 'nothing')}`);
  lines.push(...section('columns', drawColumns(row, derivation?.filled ?? [])));
  lines.push(
    ...section(
      'lost',
      (derivation?.lost ?? []).map((each) => [each.column, sourceOf(each), clean(each.reason)]),
    ),
  );
  lines.push(...section('cost', drawCost(row, cost)));
  lines.push(...section('left over', drawLeftOver(derivation, cost)));
  const changed = differences.map(({ column, stored, now }) => [
    column,
    `stored ${shown(stored)}`,
    `now ${shown(now)}`,
  ]);
  lines.push(...section('differs from what is stored', changed));
  return lines.join('\n');
}

function section(title: string, rows: readonly (readonly string[])[]): readonly string[] {
  return rows.length === 0 ? [] : [`  ${title}`, layOut(rows, '    ')];
}

function drawColumns(row: Row, filled: readonly FilledColumn[]): readonly (readonly string[])[] {
  return filled
    .filter(({ column }) => column !== 'dialect' && !COST_COLUMNS.includes(column))
    .toSorted((one, other) => (ORDER.get(one.column) ?? ORDER.size) - (ORDER.get(other.column) ?? ORDER.size))
    .map((each) => {
      const value = Object.hasOwn(row, each.column) ? shown(row[each.column]) : '(no column)';
      const note = each.note === null ? '' : ` (${each.note})`;
      return [each.column, value, `← ${sourceOf(each)}${note}`];
    });
}

function sourceOf({ source, path, dialect }: Origin): string {
  const from = `${cut(clean(source), MAX_SOURCE)}${path === null ? '' : ` at ${clean(path)}`}`;
  return dialect === null ? from : `${from} [${dialect}]`;
}

function drawCost(row: Row, cost: CostDerivation | null): readonly (readonly string[])[] {
  if (cost === null) return [];
  const stated = cost.stated.map(({ side, attribute, value, reason }) => [
    `${side}: ${clean(attribute)} = ${shown(value)}${reason === null ? ', as the sender states it' : `, not used: ${clean(reason)}`}`,
  ]);
  const computed = cost.computed.map((line) => [clean(line)]);
  const total =
    row['total_cost'] === null ? [] : [[`total_cost ${shown(row['total_cost'])} (${shown(row['cost_source'])})`]];
  return [...stated, ...computed, ...total];
}

function drawLeftOver(derivation: Derivation | null, cost: CostDerivation | null): readonly (readonly string[])[] {
  const costs = new Set(cost?.stated.map(({ attribute }) => attribute));
  return (derivation?.leftOver ?? [])
    .filter(({ attribute }) => !costs.has(attribute))
    .map(({ attribute, note }) => [clean(attribute), note === null ? '' : clean(note)]);
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return cut(clean(typeof value === 'string' ? value : JSON.stringify(value)), MAX_VALUE);
}
