/** The Prometheus text format (version 0.0.4) out of what one or several processes measured. */

export type Labels = Readonly<Record<string, string>>;

/** One metric of one process; `lines` are printed already. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly lines: readonly string[];
}

/** What several processes say of one metric stands together, as the format wants it. */
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
