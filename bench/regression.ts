/**
 * Compares two built checkouts, for a nightly run: the processor time of a span in the old and in the new one. Exit
 * code 1 when the new one takes over 5 % more anywhere, or what `--limit` says.
 *
 *   node dist/bench/regression.js OLD NEW [--only intake|file|growing|tables] [--rounds 60] [--requests 60]
 *     [--warm-up 800] [--limit 1.05] [--pause 0]
 *
 * OLD and NEW are folders of the repository after `npm run build`. `intake` is from the socket to encoded rows, `file`
 * the whole daemon into synced files of 32 MiB, `growing` the same into one file, for which the system needs new memory
 * all the time, `tables` the whole daemon with its embedded server, whose processor time counts. Both sides are up at
 * the same time and get the same number of requests alternately, in changing order, so that other load affects both.
 * Each round gives one ratio. A comparison ends when the 99 % confidence interval of the median ratio is above or below
 * the limit, or after `--rounds`; then it is undecided, which is no failure.
 *
 * With `--pause` both sides are idle for so many seconds before each round: after a minute they have given memory back.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../src/cli/bench/client.ts';
import { grouped, median } from '../src/cli/bench/figures.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { readArguments, refuseArguments } from './arguments.ts';
import { makeCorpus } from './corpus.ts';
import { KEY, SMALL_FILES, startDaemon } from './daemon.ts';
import { identified } from './requests.ts';
import { assertStored } from './stored-outcomes.ts';
import { printHead, printRow } from './table.ts';

/** The probability beyond each side of the interval. */
const ERROR = 0.005;
/** Fewer ratios have no interval of this confidence. */
const LEAST_ROUNDS = 10;
const CONNECTIONS = 8;
const PROCESSORS = 'auth, environment, privacy, normalization, pricing';
const STAGES = ['intake', 'file', 'growing', 'tables'] as const;
type Stage = (typeof STAGES)[number];
/** How the file exporter rotates. */
const ROTATION: Partial<Record<Stage, readonly string[]>> = {
  file: SMALL_FILES,
  growing: ['exporters.file.rotation.max_size=0'],
};

/** A running server of one checkout. */
interface Side {
  readonly client: Client;
  cpuSeconds(): Promise<number>;
  stop(): Promise<void>;
}

async function start(stage: Stage, root: string): Promise<Side> {
  if (stage === 'intake') return startIntake(root);
  const rotation = ROTATION[stage];
  const daemon = await startDaemon(rotation === undefined ? 'embedded' : 'file', rotation, { root, workers: 1 });
  return {
    client: new Client(daemon.url, KEY, { connections: CONNECTIONS }),
    cpuSeconds: async () => daemon.server.usage().cpuSeconds,
    stop: () => daemon.stop(),
  };
}

async function startIntake(root: string): Promise<Side> {
  const child = fork(join(root, 'dist/bench/intake-server.js'), ['sluice', PROCESSORS, 'copy']);
  const { port } = await message<{ port: number }>(child);
  return {
    client: new Client(`http://127.0.0.1:${port}`, KEY, { connections: CONNECTIONS }),
    cpuSeconds: async () => {
      const answer = message<{ cpuSeconds: number }>(child);
      child.send('cpu');
      return (await answer).cpuSeconds;
    },
    stop: async () => void child.kill('SIGKILL'),
  };
}

async function message<T>(child: ChildProcess): Promise<T> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(child, 'exit', { signal }).then(() => Promise.reject(new Error('the server ended')));
  try {
    const [value] = (await Promise.race([once(child, 'message', { signal }), ended])) as [T];
    return value;
  } finally {
    over.abort();
  }
}

/** Sends a number of requests. Returns the processor seconds of the side. */
async function turn(side: Side, requests: Requests, count: number): Promise<number> {
  let begun = 0;
  const before = await side.cpuSeconds();
  const outcomes = await side.client.closedLoop(requests, CONNECTIONS, () => begun++ >= count);
  assertStored(outcomes);
  return (await side.cpuSeconds()) - before;
}

interface Interval {
  readonly least: number;
  readonly most: number;
}

/** The confidence interval of the median, from the order of the values: it assumes nothing of their distribution. */
function intervalOf(values: readonly number[]): Interval | null {
  const sorted = [...values].sort((a, b) => a - b);
  // The probability that fewer than `below + 1` of the values are under the true median.
  let [below, probability] = [0, 2 ** -sorted.length];
  let term = probability;
  if (probability > ERROR) return null;
  while (probability <= ERROR) {
    below++;
    term *= (sorted.length - below + 1) / below;
    probability += term;
  }
  return { least: sorted[below - 1] as number, most: sorted[sorted.length - below] as number };
}

type Verdict = 'slower' | 'not slower' | 'undecided';

function verdictOf(ratios: readonly number[], limit: number): Verdict {
  const interval = ratios.length < LEAST_ROUNDS ? null : intervalOf(ratios);
  if (interval === null) return 'undecided';
  if (interval.least > limit) return 'slower';
  return interval.most < limit ? 'not slower' : 'undecided';
}

interface Load {
  readonly name: string;
  readonly requests: Requests;
  readonly spans: number;
}

interface Settings {
  readonly rounds: number;
  readonly count: number;
  /** Requests in which V8 compiles the code. */
  readonly warmUp: number;
  readonly limit: number;
  readonly pauseMs: number;
}

async function compare(
  sides: readonly [Side, Side],
  load: Load,
  { rounds, count, warmUp, limit, pauseMs }: Settings,
): Promise<Verdict> {
  for (const side of sides) await turn(side, load.requests, warmUp);
  const times: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  let verdict: Verdict = 'undecided';
  while (verdict === 'undecided' && ratios.length < rounds) {
    if (pauseMs > 0) await pause(pauseMs);
    const order = ratios.length % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const);
    for (const side of order) times[side].push(await turn(sides[side], load.requests, count));
    ratios.push((times[1].at(-1) ?? 0) / (times[0].at(-1) ?? 0));
    verdict = verdictOf(ratios, limit);
  }
  const { least, most } = intervalOf(ratios) ?? { least: Number.NaN, most: Number.NaN };
  const each = (values: readonly number[]): string => ((median(values) * 1e6) / (count * load.spans)).toFixed(2);
  const interval = `${least.toFixed(3)} to ${most.toFixed(3)}`;
  printRow([load.name, ...[...times.map(each), median(ratios).toFixed(3), interval, grouped(ratios.length), verdict]]);
  return verdict;
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments(import.meta.url, {
    allowPositionals: true,
    options: {
      only: { type: 'string' },
      rounds: { type: 'string', default: '60' },
      requests: { type: 'string', default: '60' },
      'warm-up': { type: 'string', default: '800' },
      limit: { type: 'string', default: '1.05' },
      pause: { type: 'string', default: '0' },
    },
  });
  const [old, current, ...more] = positionals.map((path) => resolve(path));
  if (old === undefined || current === undefined || more.length > 0) refuseArguments('name two folders');
  const stages = STAGES.filter((stage) => values.only === undefined || stage === values.only);
  if (stages.length === 0) refuseArguments(`--only is one of ${STAGES.join(', ')}`);
  const settings = {
    rounds: Number(values.rounds),
    count: Number(values.requests),
    warmUp: Number(values['warm-up']),
    limit: Number(values.limit),
    pauseMs: Number(values.pause) * 1000,
  };
  const { genai, micro } = makeCorpus();
  printHead(['load', 'old µs a span', 'new µs a span', 'ratio', '99 % interval', 'rounds', 'the new one is']);
  let isSlower = false;
  for (const stage of stages) {
    const sides = [await start(stage, old), await start(stage, current)] as const;
    try {
      for (const [name, bodies] of Object.entries({ 'model calls': genai, 'small spans': micro })) {
        const requests = new FreshRequests(
          bodies.map(({ pb }) => identified(pb)),
          'gzip',
        );
        const load = { name: `${stage}, ${name}`, requests, spans: bodies[0]?.records ?? 0 };
        if ((await compare(sides, load, settings)) === 'slower') isSlower = true;
      }
    } finally {
      for (const side of sides) await Promise.all([side.client.close(), side.stop()]);
    }
  }
  process.exitCode = isSlower ? 1 : 0;
}

await main();
