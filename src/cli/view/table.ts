/**
 * Tables that fit the terminal. Texts of a table that is too wide are cut; where that is not enough, each row becomes a
 * block of lines with the heads as labels. Without a terminal a table has any width, because a script reads its lines.
 */
import { layOut, type Terminal } from '../terminal.ts';
import { cut, padLeft, pad, widthOf, wrap } from './screen-text.ts';

/** A text that is cut further tells too little. */
const LEAST_WIDTH = 16;
const GAP = 2;
/** A longer cell of a block is cut. */
const CELL_LINES = 4;
/** No sentence of ours has more. */
const TEXT_LINES = 50;

type Row = readonly string[];

export interface Table {
  /** One line, or two that belong together, such as a name and its unit. */
  readonly heads: readonly Row[];
  readonly rows: readonly Row[];
  /** The columns whose cells may be cut. */
  readonly shrinking?: readonly number[];
  /** The first column of numbers, which are right-aligned as all after it. */
  readonly numbersFrom?: number;
  /** Paints the line of a row, or a part of it. */
  readonly paint?: (text: string, row: number) => string;
}

export function describeTable(table: Table, { tableWidth, style }: Pick<Terminal, 'tableWidth' | 'style'>): string {
  const { heads, rows, paint = (text) => text } = table;
  const widths = fittingWidths(table, tableWidth);
  if (widths === null) return describeBlocks(table, { tableWidth, style });
  const shrinking = new Set(table.shrinking);
  const from = table.numbersFrom ?? Number.POSITIVE_INFINITY;
  const fit = (cell: string, at: number): string => {
    const width = widths[at] ?? 0;
    if (at >= from) return padLeft(cell, width);
    return shrinking.has(at) && widthOf(cell) > width ? cut(cell, width) : cell;
  };
  const lines = layOut([...heads, ...rows].map((row) => row.map(fit))).split('\n');
  return lines.map((line, at) => (at < heads.length ? style.dim(line) : paint(line, at - heads.length))).join('\n');
}

/** Each row as a block: a line for each cell that is not empty, with its head. */
export function describeBlocks(
  { heads, rows, paint = (text) => text }: Table,
  { tableWidth, style }: Pick<Terminal, 'tableWidth' | 'style'>,
): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const labels = Array.from({ length: columns }, (_, at) =>
    heads
      .map((head) => head[at] ?? '')
      .join(' ')
      .trim(),
  );
  const labelWidth = Math.max(0, ...labels.map(widthOf));
  const linesOf = (cell: string, label: string, row: number): readonly string[] => {
    const indent = label === '' ? 0 : labelWidth + GAP;
    const room = Math.max(LEAST_WIDTH, tableWidth - indent);
    const pieces = widthOf(cell) <= room ? [cell] : wrap(cut(cell, CELL_LINES * room), room, 2 * CELL_LINES).lines;
    return pieces.map((piece, at) => style.dim(pad(at === 0 ? label : '', indent)) + paint(piece, row));
  };
  return rows
    .map((row, at) =>
      row.flatMap((cell, column) => (cell.trim() === '' ? [] : linesOf(cell.trim(), labels[column] ?? '', at))),
    )
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

/** Sentences, broken at the width of the terminal. */
export function describeText(text: string, { tableWidth }: Pick<Terminal, 'tableWidth'>): string {
  return widthOf(text) <= tableWidth ? text : wrap(text, tableWidth, TEXT_LINES).lines.join('\n');
}

/** Null when the table does not fit. */
function fittingWidths({ heads, rows, shrinking = [] }: Table, tableWidth: number): readonly number[] | null {
  const all = [...heads, ...rows];
  const columns = Math.max(0, ...all.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ''))));
  let excess = widths.reduce((sum, width) => sum + width, GAP * Math.max(0, columns - 1)) - tableWidth;
  const width = (at: number): number => widths[at] ?? 0;
  for (const at of [...shrinking].sort((one, other) => width(other) - width(one))) {
    const taken = Math.min(Math.max(0, excess), Math.max(0, width(at) - LEAST_WIDTH));
    widths[at] = width(at) - taken;
    excess -= taken;
  }
  return excess > 0 ? null : widths;
}
