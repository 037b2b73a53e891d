/**
 * Tests the bench itself: plants one fault at a time in a copy of the product and holds the smallest campaign that should find
 * it. A fault that is missed means that the bench proves less than it claims.
 *
 *   node dist/test/campaigns/crash/planted.js [--only NAME] [--seed N]
 */
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { CAMPAIGNS } from './campaigns/list.ts';
import { applyEdit, type PlantedBug } from './planted/bug.ts';
import { LEDGER_BUGS } from './planted/ledger-bugs.ts';
import { SERVICE_BUGS } from './planted/service-bugs.ts';
import { PRODUCT_ROOT } from './stage/range.ts';

/** A copy of the product with the fault in it; the caller removes it. */
async function plant(bug: PlantedBug): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-planted-'));
  for (const part of ['bin', 'config', 'proto', 'package.json', 'dist/src'])
    await cp(join(PRODUCT_ROOT, part), join(root, part), { recursive: true });
  await symlink(join(PRODUCT_ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const edit of bug.edits) {
    const path = join(root, 'dist/src', edit.file);
    await writeFile(path, applyEdit(await readFile(path, 'utf8'), edit));
  }
  return root;
}

interface Outcome {
  readonly bug: PlantedBug;
  readonly caught: boolean;
  readonly said: string;
}

async function tryOut(bug: PlantedBug, seed: number): Promise<Outcome> {
  const campaign = CAMPAIGNS.find(({ name }) => name === bug.campaign);
  if (campaign === undefined) throw new Error(`${bug.name}: there is no campaign ${bug.campaign}`);
  const root = await plant(bug);
  try {
    const { findings } = await campaign.run({ cycles: bug.cycles, only: bug.only, seed, root, say: () => undefined });
    const caught = bug.kinds.some((kind) => findings.count(kind) > 0);
    const said = findings.kinds.map((kind) => `${kind} ${findings.count(kind)}`).join(', ');
    return { bug, caught, said: said === '' ? 'nothing found' : said };
  } catch (error) {
    // A product that can not run at all proves nothing about the bench.
    return { bug, caught: false, said: `could not be tried: ${error instanceof Error ? error.message : error}` };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: { only: { type: 'string' }, seed: { type: 'string', default: '1' } },
  });
  const bugs = [...LEDGER_BUGS, ...SERVICE_BUGS].filter(
    ({ name }) => values.only === undefined || name === values.only,
  );
  if (bugs.length === 0) refuseArguments(`there is no fault "${values.only}"`);
  let caught = 0;
  for (const bug of bugs) {
    const started = performance.now();
    const outcome = await tryOut(bug, Number(values.seed));
    if (outcome.caught) caught++;
    const seconds = Math.round((performance.now() - started) / 1000);
    const verdict = outcome.caught ? 'caught' : 'MISSED';
    process.stdout.write(
      `${verdict}  ${bug.name.padEnd(32)} ${bug.campaign.padEnd(10)} ${String(seconds).padStart(3)} s  ${outcome.said}\n`,
    );
  }
  process.stdout.write(`\n${caught} of ${bugs.length} caught\n`, () =>
    process.exit(caught === bugs.length && bugs.length > 0 ? 0 : 1),
  );
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
await main();
