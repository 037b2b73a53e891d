/**
 * Tests the campaign itself: builds the product with one seeded bug at a time and runs the scenario that should find
 * it. The exit code is 1 when a bug is missed, because then the campaign proves less than it claims.
 *
 *   node dist/test/campaigns/crash/bugs.js [--only NAME] [--seed N]
 */
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { buildWithBug, readBugs, removeBuild, type SeededBug } from './bugs/bug.ts';
import { SCENARIOS } from './scenarios/list.ts';

interface Outcome {
  readonly isFound: boolean;
  readonly summary: string;
}

async function tryBug(bug: SeededBug, seed: number): Promise<Outcome> {
  const scenario = SCENARIOS.find(({ name }) => name === bug.scenario);
  if (scenario === undefined) throw new Error(`${bug.name}: there is no scenario ${bug.scenario}`);
  const root = await buildWithBug(bug);
  try {
    const { findings } = await scenario.run({
      cycles: bug.cycles,
      only: bug.only,
      seed,
      root,
      report: () => undefined,
    });
    const isFound = bug.findings.some((kind) => findings.count(kind) > 0);
    const summary = findings.kinds.map((kind) => `${kind} ${findings.count(kind)}`).join(', ');
    return { isFound, summary: summary === '' ? 'nothing found' : summary };
  } catch (error) {
    // A product that does not start says nothing about the campaign.
    return { isFound: false, summary: `could not run: ${error instanceof Error ? error.message : error}` };
  } finally {
    await removeBuild(root);
  }
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } },
  });
  const bugs = (await readBugs()).filter(({ name }) => values.only === undefined || name === values.only);
  if (bugs.length === 0) refuseArguments(`there is no seeded bug "${values.only}"`);
  let found = 0;
  for (const bug of bugs) {
    const started = performance.now();
    const { isFound, summary } = await tryBug(bug, Number(values.seed));
    if (isFound) found++;
    const seconds = String(Math.round((performance.now() - started) / 1000)).padStart(3);
    const verdict = isFound ? 'found ' : 'MISSED';
    process.stdout.write(`${verdict}  ${bug.name.padEnd(36)} ${bug.scenario.padEnd(10)} ${seconds} s  ${summary}\n`);
  }
  process.stdout.write(`\n${found} of ${bugs.length} found\n`, () => process.exit(found === bugs.length ? 0 : 1));
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
