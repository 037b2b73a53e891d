/**
 * Tests that the order of arrival does not change tables and views. Prints one summary line and the rows that differ.
 * The exit code is 1 when there are any.
 *
 *   node dist/test/campaigns/order/order.js [--permutations 2000] [--seed 1]
 */
import { readArguments } from '../../../bench/arguments.ts';
import { runOrderCampaign } from './campaign.ts';
import { FAST_SETTINGS, makeServer } from '../../support/postgres.ts';

/** Differences that are printed in full, because one cause usually makes many. */
const MAX_SHOWN = 3;

const { values } = readArguments(import.meta.url, {
  options: { permutations: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
});
const tasks: (() => Promise<void>)[] = [];
const scope = { teardown: (task: () => Promise<void>) => tasks.push(task) };
const started = performance.now();
try {
  const server = await makeServer(scope, FAST_SETTINGS);
  await server.start();
  const { differences, ...figures } = await runOrderCampaign(scope, {
    databaseUrl: server.url,
    permutations: Number(values.permutations),
    seed: Number(values.seed),
  });
  for (const difference of differences.slice(0, MAX_SHOWN)) console.log(JSON.stringify(difference, null, 2));
  const seconds = Math.round((performance.now() - started) / 1000);
  const relations = [...new Set(differences.map(({ relation }) => relation))];
  console.log(JSON.stringify({ ...figures, differences: differences.length, relations, seconds }));
  process.exitCode = differences.length === 0 ? 0 : 1;
} finally {
  for (const task of tasks.reverse()) await task();
}
