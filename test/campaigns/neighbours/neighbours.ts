/**
 * Measures the answers and times of an honest project during each attack of a hostile client, and alone before and
 * after it. Fails when the honest project gets another answer than 200, or waits longer than the bound.
 *
 *   node dist/test/campaigns/neighbours/neighbours.js
 *     [--seconds 3] [--bound 20] [--floor 100] [--only NAME,…] [--sibling] [--answers] [--against alone] [--limited]
 *
 * `--seconds` is the time of each attack, `--bound` the allowed ratio of the p99 to the p99 alone, and `--floor` the
 * milliseconds below which a p99 always passes. `--sibling`: the honest client has a key of the hostile project.
 * `--answers`: only the answers are judged, as on a machine with other work. `--limited`: the daemon and its database
 * have 768 MiB of memory; the kernel may kill none of them, and the daemon may take 512 MiB.
 *
 * `--against` names the p99 that the p99 beside an attack is compared with. `alone`: before and after the attack.
 * `daemon`: beside the same attack on another daemon, which takes the same processor and disk from the honest client
 * but shares nothing else with it. `database`: that of a plain client that commits rows into the database of the
 * attacked daemon meanwhile. What the honest client waits longer than that is time of the daemon.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { readArguments, refuseArguments } from '../../../bench/arguments.ts';
import { printHead, printRow } from '../../../bench/table.ts';
import { ATTACKS } from './attacks.ts';
import { quantile } from '../../../src/cli/bench/figures.ts';
import { Honest, quantileOf, REQUEST_EVERY_MS, type Seen } from './honest.ts';
import type { DaemonFigures } from './daemon-watch.ts';
import { DirectCommits } from '../../support/direct-commits.ts';
import { HONEST_KEY, type Ports, type Scene, SIBLING_KEY, startScene } from './scene.ts';

/**
 * The time of an attack before the measurement. Some make their bodies, and the engine compiles the code that the first
 * bodies of a size need.
 */
const LEAD_MS = 3000;
const RECOVERY_MS = 500;
const MIB = 1_048_576;
const LIMIT_BYTES = 768 * MIB;
const MOST_MIB = 512;

const { values } = readArguments(import.meta.url, {
  options: {
    seconds: { type: 'string', default: '3' },
    bound: { type: 'string', default: '20' },
    floor: { type: 'string', default: '100' },
    only: { type: 'string' },
    sibling: { type: 'boolean', default: false },
    answers: { type: 'boolean', default: false },
    against: { type: 'string', default: 'alone' },
    limited: { type: 'boolean', default: false },
  },
});
const [seconds, bound, floor] = [Number(values.seconds), Number(values.bound), Number(values.floor)];
if (!(seconds > 0) || !(bound > 0) || !(floor >= 0)) refuseArguments('--seconds, --bound and --floor are numbers');
/** The answers need no long comparison. */
const aloneSeconds = values.answers ? Math.min(seconds, 1) : seconds;
const { against } = values;
if (!['alone', 'daemon', 'database'].includes(against)) refuseArguments('--against is alone, daemon or database');
const parts = (values.only ?? '').split(',');
const names = Object.keys(ATTACKS).filter((name) => parts.some((part) => name.includes(part)));
if (names.length === 0) refuseArguments(`there is no attack "${values.only}"`);

const milliseconds = (value: number): string => value.toFixed(1);
const refusedOf = ({ refused }: Seen): string =>
  refused.size === 0 ? '–' : [...refused].map(([answer, count]) => `${count} × ${answer}`).join(', ');

/** What the honest project saw of one attack. */
interface Measured {
  readonly seen: Seen;
  readonly alone: readonly Seen[];
  /** Times that the attack is compared with; null: those alone. */
  readonly control: readonly number[] | null;
  readonly daemon: DaemonFigures;
}

/** The p99 that the attack is compared with. */
const comparedP99 = ({ alone, control }: Measured): number =>
  control === null ? quantileOf(alone, 0.99) : quantile(control, 0.99);

function row(name: string, measured: Measured): readonly string[] {
  const { seen, alone, control, daemon } = measured;
  const quantiles = [0.5, 0.99, 1].map((part) => milliseconds(quantileOf([seen], part)));
  const before = [0.99, 1].map((part) => milliseconds(quantileOf(alone, part)));
  const beside = control === null ? '–' : milliseconds(quantile(control, 0.99));
  const ratio = (quantileOf([seen], 0.99) / comparedP99(measured)).toFixed(1);
  const processor = `${(daemon.processor * 100).toFixed(0)} %`;
  const times = [...quantiles, ...before, beside, ratio, milliseconds(seen.healthWorst)];
  const waits = [daemon.blockedMs, daemon.queueMs, daemon.databaseMs].map(milliseconds);
  return [name, String(seen.times.length), refusedOf(seen), ...times, ...waits, processor];
}

/** Makes the attack on the daemon at `ports`. */
async function besides(name: string, ports: Ports): Promise<readonly [Seen, DaemonFigures]> {
  const thread = new Worker(new URL('./hostile-thread.js', import.meta.url), { workerData: { name, ports } });
  await once(thread, 'online');
  await honest.watch(LEAD_MS);
  await scene.figures();
  const seen = await honest.watch(seconds * 1000);
  const figures = await scene.figures();
  await thread.terminate();
  await honest.watch(RECOVERY_MS);
  return [seen, figures];
}

/** A daemon with the trace of the honest project that attacks try to write to. */
async function startClaimed(limitBytes: number | null): Promise<Scene> {
  const scene = await startScene(limitBytes);
  const owner = new Honest(scene.ports.http);
  await owner.claim();
  owner.close();
  return scene;
}

const scene = await startClaimed(values.limited ? LIMIT_BYTES : null);
const other = against === 'daemon' ? await startClaimed(null) : null;
const direct = against === 'database' ? await DirectCommits.open(scene.dataFolder, REQUEST_EVERY_MS) : null;
const honest = new Honest(scene.ports.http, values.sibling ? SIBLING_KEY : HONEST_KEY);
const faults: string[] = [];
try {
  // In the first seconds the engine compiles the code.
  await honest.watch(2000);
  let before = await honest.watch(aloneSeconds * 1000);
  const times = ['p50 ms', 'p99 ms', 'worst ms', 'p99 alone', 'worst alone', 'p99 control', 'p99 ratio'];
  const daemon = ['worst /health ms', 'loop blocked ms', 'worst queue ms', 'worst database ms', 'processor'];
  printHead(['beside', 'requests', 'not 200', ...times, ...daemon]);
  for (const name of names) {
    const besideOther = other === null ? null : (await besides(name, other.ports))[0].times;
    direct?.clear();
    const [seen, daemon] = await besides(name, scene.ports);
    const control = direct?.times ?? besideOther;
    const after = await honest.watch(aloneSeconds * 1000);
    const measured = { seen, alone: [before, after], control, daemon };
    printRow(row(name, measured));
    if (seen.refused.size > 0) faults.push(`${name}: ${refusedOf(seen)}`);
    const p99 = quantileOf([seen], 0.99);
    if (!values.answers && p99 > Math.max(bound * comparedP99(measured), floor))
      faults.push(`${name}: p99 ${milliseconds(p99)} ms`);
    before = after;
    if (scene.ended() !== null) throw new Error(`the daemon ended with ${scene.ended()} beside "${name}"`);
    if (values.limited && scene.memory().kills > 0) throw new Error(`a process was killed for memory beside "${name}"`);
  }
  if (values.limited) {
    const { peakMiB } = scene.memory();
    console.log(`the daemon took at most ${peakMiB.toFixed(0)} MiB, and no process was killed`);
    if (peakMiB > MOST_MIB) faults.push(`${peakMiB.toFixed(0)} MiB are above ${MOST_MIB}`);
  }
} finally {
  honest.close();
  await direct?.close();
  await Promise.all([scene.stop(), other?.stop()]);
}
for (const fault of faults) console.error(`FAILED: ${fault}`);
console.log(faults.length === 0 ? 'neighbours: every request was answered 200' : 'neighbours: failed');
process.exit(faults.length === 0 ? 0 : 1);
