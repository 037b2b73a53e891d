/** Prints a Markdown table line by line, for use in the documentation. */

/** Columns are aligned right, except for those in `texts`. */
export function printHead(columns: readonly string[], texts: readonly number[] = []): void {
  printRow(columns);
  console.log(`|${columns.map((_, index) => (texts.includes(index) ? '---' : '---:')).join('|')}|`);
}

export function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
