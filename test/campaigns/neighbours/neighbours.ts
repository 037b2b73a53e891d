/**
 * Measures the answers and times of an honest project during each attack of a hostile client, and alone before and
 * after it. Fails when the honest project gets another answer than 200, or waits longer than the bound.
 *
 *   node dist/test/campaigns/neighbours/neighbours.js
 *     [--seconds 3] [--bound 20] [--floor 100] [--only NAME] [--sibling] [--answers]
 *
 * `--seconds` is the time of each attack, `--bound` the allowed ratio of the p99 to the p99 alone, and `--floor` the
 * milliseconds below which a p99 always passes. `--sibling`: the honest client has a key of the hostile project.
 * `--answers`: only the answers are judged, as on a machine with other work.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { printHead, printRow } from '../../../bench/table.ts';
import { ATTACKS } from './attacks.ts';
import { Honest, quantileOf, type Seen } from './honest.ts';
import { HONEST_KEY, SIBLING_KEY, startScene } from './scene.ts';

/** The time of an attack before the measurement, in which some make their bodies. */
const LEAD_MS = 1000;
const RECOVERY_MS = 500;

const { values } = readArguments(import.meta.url, {
  options: {
    seconds: { type: 'string', default: '3' },
    bound: { type: 'string', default: '20' },
    floor: { type: 'string', default: '100' },
    only: { type: 'string' },
    sibling: { type: 'boolean', default: false },
    answers: { type: 'boolean', default: false },
  },
});
const [seconds, bound, floor] = [Number(values.seconds), Number(values.bound), Number(values.floor)];
if (!(seconds > 0) || !(bound > 0) || !(floor >= 0)) refuseArguments('--seconds, --bound and --floor are numbers');
const names = Object.keys(ATTACKS).filter((name) => values.only === undefined || name.includes(values.only));
if (names.length === 0) refuseArguments(`there is no attack "${values.only}"`);

const milliseconds = (value: number): string => value.toFixed(1);
const refusedOf = ({ refused }: Seen): string =>
  refused.size === 0 ? '–' : [...refused].map(([answer, count]) => `${count} × ${answer}`).join(', ');

function row(name: string, seen: Seen, alone: readonly Seen[]): readonly string[] {
  const quantiles = [0.5, 0.99, 1].map((part) => milliseconds(quantileOf([seen], part)));
  const before = [0.99, 1].map((part) => milliseconds(quantileOf(alone, part)));
  const ratio = quantileOf([seen], 0.99) / quantileOf(alone, 0.99);
  const health = milliseconds(seen.healthWorst);
  return [name, String(seen.times.length), refusedOf(seen), ...quantiles, ...before, ratio.toFixed(1), health];
}

async function besides(name: string, honest: Honest, ports: object): Promise<Seen> {
  const thread = new Worker(new URL('./hostile-thread.js', import.meta.url), { workerData: { name, ports } });
  await once(thread, 'online');
  await honest.watch(LEAD_MS);
  const seen = await honest.watch(seconds * 1000);
  await thread.terminate();
  await honest.watch(RECOVERY_MS);
  return seen;
}

const scene = await startScene();
const honest = new Honest(scene.ports.http, values.sibling ? SIBLING_KEY : HONEST_KEY);
const faults: string[] = [];
try {
  await honest.claim();
  // In the first seconds the engine compiles the code.
  await honest.watch(2000);
  let before = await honest.watch(seconds * 1000);
  const times = ['p50 ms', 'p99 ms', 'worst ms', 'p99 alone', 'worst alone'];
  printHead(['beside', 'requests', 'not 200', ...times, 'p99 ratio', 'worst /health ms']);
  for (const name of names) {
    const seen = await besides(name, honest, scene.ports);
    const after = await honest.watch(seconds * 1000);
    printRow(row(name, seen, [before, after]));
    if (seen.refused.size > 0) faults.push(`${name}: ${refusedOf(seen)}`);
    const [p99, p99Alone] = [quantileOf([seen], 0.99), quantileOf([before, after], 0.99)];
    if (!values.answers && p99 > Math.max(bound * p99Alone, floor)) faults.push(`${name}: p99 ${milliseconds(p99)} ms`);
    before = after;
    if (scene.ended() !== null) throw new Error(`the daemon ended with ${scene.ended()} beside "${name}"`);
  }
} finally {
  honest.close();
  await scene.stop();
}
for (const fault of faults) console.error(`FAILED: ${fault}`);
console.log(faults.length === 0 ? 'neighbours: every request was answered 200' : 'neighbours: failed');
process.exit(faults.length === 0 ? 0 : 1);
