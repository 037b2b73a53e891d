/** The results as a table, one line for each scenario. */
import type { ScenarioResult } from './scenarios/scenario.ts';

export interface Line {
  readonly name: string;
  readonly seconds: number;
  readonly result: ScenarioResult;
}

const KINDS = ['lost', 'duplicate', 'partial', 'false_200'] as const;
const COLUMNS = [
  'scenario',
  'cycles',
  'requests',
  '200s',
  'lost',
  'duplicates',
  'partial',
  'false 200',
  'other',
  'seconds',
];

export function printTable(lines: readonly Line[]): string {
  const rows = lines.map(({ name, seconds, result: { cycles, requests, accepted, findings } }) => {
    const counts = KINDS.map((kind) => findings.count(kind));
    const other = findings.total - counts.reduce((sum, count) => sum + count, 0);
    return [name, cycles, requests, accepted, ...counts, other, Math.round(seconds)].map(String);
  });
  const widths = COLUMNS.map((column, index) => Math.max(column.length, ...rows.map((row) => row[index]?.length ?? 0)));
  const print = (row: readonly string[]): string =>
    row
      .map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0)))
      .join('  ');
  return [print(COLUMNS), ...rows.map(print)].join('\n');
}
