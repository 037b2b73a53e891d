/** Output for a person. Colours are used only on a terminal, and not if they are disabled. */
import { pad, widthOf } from './view/screen-text.ts';

export interface Terminal {
  /** The command's result. */
  print(text: string): void;
  /** Everything except the result: progress, warnings, errors. */
  say(text: string): void;
  readonly style: Style;
  /** Columns of the terminal; 100 without a terminal. */
  readonly width: number;
  /** The most columns of a table: those of the terminal; without one a table has any width. */
  readonly tableWidth: number;
}

/** Each function returns its text unchanged when colours are off. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  yellow(text: string): string;
  green(text: string): string;
  cyan(text: string): string;
}

const DEFAULT_WIDTH = 100;

export function makeTerminal(host: NodeJS.Process): Terminal {
  const coloured = wantsColour(host, host.stdout);
  return {
    print: (text) => void host.stdout.write(text.endsWith('\n') ? text : `${text}\n`),
    say: (text) => void host.stderr.write(text.endsWith('\n') ? text : `${text}\n`),
    style: makeStyle(coloured),
    width: host.stdout.columns ?? DEFAULT_WIDTH,
    tableWidth: host.stdout.columns ?? Number.POSITIVE_INFINITY,
  };
}

/** A non-empty NO_COLOR disables colours; FORCE_COLOR enables them without a terminal. */
export function wantsColour(host: Pick<NodeJS.Process, 'env'>, stream: { readonly isTTY?: boolean }): boolean {
  if ((host.env['NO_COLOR'] ?? '') !== '') return false;
  const force = host.env['FORCE_COLOR'] ?? '';
  if (force !== '') return force !== '0';
  return stream.isTTY === true && host.env['TERM'] !== 'dumb';
}

export function makeStyle(coloured: boolean): Style {
  const paint = (code: string) => (text: string) => (coloured ? `\u001b[${code}m${text}\u001b[0m` : text);
  return {
    bold: paint('1'),
    dim: paint('2'),
    red: paint('31'),
    yellow: paint('33'),
    green: paint('32'),
    cyan: paint('36'),
  };
}

/** Columns as wide as their longest cell, two spaces apart. */
export function layOut(rows: readonly (readonly string[])[], indent = ''): string {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  return rows
    .map(
      (row) =>
        indent +
        row
          .map((cell, index) => pad(cell, widths[index] ?? 0))
          .join('  ')
          .trimEnd(),
    )
    .join('\n');
}
