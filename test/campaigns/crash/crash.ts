/**
 * Checks that 200 means stored once, under kills, crashes and broken connections of real daemons. The exit code is 1
 * when there are findings.
 *
 *   node dist/test/campaigns/crash/crash.js [SCENARIO] [--short] [--cycles N] [--seed N] [--only TEXT] [--root FOLDER]
 *                                           [--url URL]
 *
 * The scenarios are contention, duplicates, ambiguous, proxy, kill, objects, objects-beside, clocks, file, database and
 * all.
 */
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import type { Scenario } from './scenarios/scenario.ts';
import { SCENARIOS } from './scenarios/list.ts';
import { type Line, printTable } from './table.ts';

interface Options {
  readonly scenarios: readonly Scenario[];
  readonly short: boolean;
  readonly cycles: number | null;
  readonly seed: number;
  readonly root: string | undefined;
  readonly only: string | undefined;
  readonly url: string | undefined;
}

function readOptions(): Options {
  const { values, positionals } = readArguments(import.meta.url, {
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      cycles: { type: 'string' },
      seed: { type: 'string', default: '1' },
      root: { type: 'string' },
      only: { type: 'string' },
      url: { type: 'string' },
    },
  });
  const [name = 'all'] = positionals;
  const scenarios = SCENARIOS.filter((scenario) => name === 'all' || scenario.name === name);
  if (scenarios.length === 0) refuseArguments(`there is no scenario "${name}"`);
  const cycles = values.cycles === undefined ? null : Number(values.cycles);
  if (cycles !== null && !(Number.isInteger(cycles) && cycles > 0)) {
    refuseArguments('--cycles takes a number above 0');
  }
  const { short, root, only, url } = values;
  return { scenarios, short, cycles, seed: Number(values.seed), root, only, url };
}

async function main(): Promise<void> {
  const options = readOptions();
  const lines: Line[] = [];
  for (const scenario of options.scenarios) {
    const cycles = options.cycles ?? (options.short ? scenario.cycles.short : scenario.cycles.full);
    const report = (line: string): void => void process.stderr.write(`${line}\n`);
    report(`── ${scenario.name}: ${scenario.summary}`);
    const started = performance.now();
    const result = await scenario.run({ ...options, cycles, keep: true, report });
    lines.push({ name: scenario.name, seconds: (performance.now() - started) / 1000, result });
    for (const note of result.notes) report(`   ${note}`);
    for (const message of result.findings.messages) report(`   ! ${message}`);
  }
  const code = lines.some(({ result }) => result.findings.total > 0) ? 1 : 0;
  // An open connection must not keep the process alive.
  process.stdout.write(`\n${printTable(lines)}\n`, () => process.exit(code));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
