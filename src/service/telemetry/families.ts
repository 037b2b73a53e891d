/** Prints the metrics of one or several processes in the Prometheus text format (version 0.0.4). */

export type Labels = Readonly<Record<string, string>>;

/** One metric of one process. `lines` are in the text format. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly lines: readonly string[];
}

/** The format requires that all lines of a metric are together, also those of several processes. */
export function printFamilies(families: readonly Family[]): string {
  const byName = new Map<string, Family>();
  for (const family of families) {
    const known = byName.get(family.name);
    byName.set(family.name, known === undefined ? family : { ...known, lines: [...known.lines, ...family.lines] });
  }
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const lines = sorted.flatMap(({ name, help, type, lines: own }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...own,
  ]);
  return `${lines.join('\n')}\n`;
}
