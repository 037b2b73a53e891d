/** A table as Markdown has it, printed line by line: it can stand in the documentation as it is. */

/** Columns are of figures and to the right, but for those at `texts`. */
export function printHead(columns: readonly string[], texts: readonly number[] = []): void {
  printRow(columns);
  console.log(`|${columns.map((_, index) => (texts.includes(index) ? '---' : '---:')).join('|')}|`);
}

export function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
