/**
 * Measures the answers and times of an honest project, alone and during each attack of a hostile client. Fails when the
 * honest project gets another answer than 200, or waits longer than the bound.
 *
 *   node dist/test/campaigns/neighbours/neighbours.js [--seconds 3] [--bound 20] [--floor 100] [--only NAME]
 *
 * `--seconds` is the time of each attack, `--bound` the allowed ratio of the p99 to the p99 alone, and `--floor` the
 * milliseconds below which a p99 always passes.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { printHead, printRow } from '../../../bench/table.ts';
import { ATTACKS } from './attacks.ts';
import { Honest, type Seen } from './honest.ts';
import { startScene } from './scene.ts';

/** The time of an attack before the measurement, and the time to recover after it. */
const LEAD_MS = 500;

const { values } = readArguments(import.meta.url, {
  options: {
    seconds: { type: 'string', default: '3' },
    bound: { type: 'string', default: '20' },
    floor: { type: 'string', default: '100' },
    only: { type: 'string' },
  },
});
const [seconds, bound, floor] = [Number(values.seconds), Number(values.bound), Number(values.floor)];
if (!(seconds > 0) || !(bound > 0) || !(floor >= 0)) refuseArguments('--seconds, --bound and --floor are numbers');
const names = Object.keys(ATTACKS).filter((name) => values.only === undefined || name === values.only);
if (names.length === 0) refuseArguments(`there is no attack "${values.only}"`);

const milliseconds = (value: number): string => value.toFixed(1);
const refusedOf = ({ refused }: Seen): string =>
  refused.size === 0 ? '–' : [...refused].map(([answer, count]) => `${count} × ${answer}`).join(', ');

function row(name: string, seen: Seen, alone: Seen): readonly string[] {
  const ratio = (seen.p99 / alone.p99).toFixed(1);
  const times = [seen.p50, seen.p99].map(milliseconds);
  return [name, String(seen.requests), refusedOf(seen), ...times, ratio, milliseconds(seen.healthWorst)];
}

async function besides(name: string, honest: Honest, ports: object): Promise<Seen> {
  const thread = new Worker(new URL('./hostile-thread.js', import.meta.url), { workerData: { name, ports } });
  await once(thread, 'online');
  await honest.watch(LEAD_MS);
  const seen = await honest.watch(seconds * 1000);
  await thread.terminate();
  await honest.watch(LEAD_MS);
  return seen;
}

const scene = await startScene();
const honest = new Honest(scene.ports.http);
const faults: string[] = [];
try {
  await honest.claim();
  // In the first seconds the engine compiles the code.
  await honest.watch(2000);
  const alone = await honest.watch(Math.max(seconds, 3) * 1000);
  const columns = ['beside', 'requests', 'not 200', 'p50 ms', 'p99 ms', 'ratio', 'worst /health ms'];
  printHead(columns);
  printRow(row('nothing', alone, alone));
  for (const name of names) {
    const seen = await besides(name, honest, scene.ports);
    printRow(row(name, seen, alone));
    if (seen.refused.size > 0) faults.push(`${name}: ${refusedOf(seen)}`);
    if (seen.p99 > Math.max(bound * alone.p99, floor)) faults.push(`${name}: p99 ${milliseconds(seen.p99)} ms`);
    if (scene.ended() !== null) throw new Error(`the daemon ended with ${scene.ended()} beside "${name}"`);
  }
} finally {
  honest.close();
  await scene.stop();
}
for (const fault of faults) console.error(`FAILED: ${fault}`);
console.log(
  faults.length === 0 ? 'neighbours: every request was answered 200, within the bound' : 'neighbours: failed',
);
process.exit(faults.length === 0 ? 0 : 1);
