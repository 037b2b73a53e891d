/**
 * Acknowledgement times while readers ask the console without a pause for what takes longest: searches that find
 * nothing, usage and facets. Rounds with and without readers alternate at one rate on an embedded server. The target is
 * a ratio of the 99th of a hundred of at most 1.2. A plain client that commits one row at a time into the same database
 * is the control: its ratio is what the server and the machine do to any client beside these readers.
 *
 *   node dist/bench/beside-readers.js [--rounds 5] [--seconds 8] [--readers 4] [--share 0.3]
 */
import { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../src/cli/bench/client.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { DirectCommits } from '../test/support/direct-commits.ts';
import { freePort } from '../test/support/executable.ts';
import { readArguments } from './arguments.ts';
import { makeCorpus } from './corpus.ts';
import { KEY, openConsole, PROJECT, startDaemon } from './daemon.ts';
import { identified } from './requests.ts';
import { assertStored } from './stored-outcomes.ts';
import { printHead, printRow } from './table.ts';

const CONNECTIONS = 16;
const WARM_UP_MS = 12_000;
const PEAK_MS = 4000;
/** Left out of each round. */
const LEAD_MS = 1000;
/** The interval of the plain commits. */
const COMMIT_EVERY_MS = 10;
const QUESTIONS = ['traces?q=model:none', 'traces?q=%22snow%22', 'usage?from=-24h&to=now&interval=1h', 'facets'];

/** Returns how many answers there were, when `isOver`. */
async function readOn(base: string, first: number, isOver: () => boolean): Promise<number> {
  let answers = 0;
  for (let at = first; !isOver(); at += 1) {
    const answer = await fetch(`${base}/${QUESTIONS[at % QUESTIONS.length]}`);
    await answer.arrayBuffer();
    if (answer.status === 200) answers += 1;
    // As Retry-After says.
    else await pause(1000);
  }
  return answers;
}

interface Round {
  readonly times: readonly number[];
  /** Milliseconds of the plain client's commits. */
  readonly commits: readonly number[];
  readonly answers: number;
}

interface Load {
  readonly direct: DirectCommits;
  readonly client: Client;
  readonly requests: Requests;
  readonly perSecond: number;
  readonly milliseconds: number;
  /** The address of the project in the console. */
  readonly base: string;
}

async function round({ client, direct, requests, base, ...rate }: Load, readers: number): Promise<Round> {
  let isOver = false;
  const reading = Array.from({ length: readers }, (_, at) => readOn(base, at, () => isOver));
  const counts = performance.now() + LEAD_MS;
  const clearing = pause(LEAD_MS).then(() => direct.clear());
  const outcomes = await client.atRate(requests, { ...rate, milliseconds: LEAD_MS + rate.milliseconds });
  isOver = true;
  await clearing;
  const commits = [...direct.times];
  const answers = (await Promise.all(reading)).reduce((sum, each) => sum + each, 0);
  assertStored(outcomes);
  return { times: outcomes.filter(({ due }) => due >= counts).map(({ ms }) => ms), commits, answers };
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '8' },
      readers: { type: 'string', default: '4' },
      share: { type: 'string', default: '0.3' },
    },
  });
  const port = await freePort();
  // Not pinned: the readers' processes of the server may use every core.
  const daemon = await startDaemon('embedded', openConsole(port), { workers: 1 });
  const client = new Client(daemon.url, KEY);
  const direct = await DirectCommits.open(resolve(daemon.folder, 'data'), COMMIT_EVERY_MS);
  try {
    const requests = new FreshRequests(
      makeCorpus().genai.map(({ pb }) => identified(pb)),
      'gzip',
    );
    await client.peak(requests, CONNECTIONS, WARM_UP_MS);
    const peak = await client.peak(requests, CONNECTIONS, PEAK_MS);
    const perSecond = peak * Number(values.share);
    console.log(`peak: ${grouped(peak)} requests a second; ${grouped(perSecond)} are sent\n`);
    const base = `http://127.0.0.1:${port}/api/v1/projects/${PROJECT}`;
    const load = { client, direct, requests, perSecond, base, milliseconds: Number(values.seconds) * 1000 };
    // The first reader of a row notes in its page that it is committed. With checksums, the server then logs the page.
    for (const question of QUESTIONS) await (await fetch(`${base}/${question}`)).arrayBuffer();
    const names = ['p50 alone', 'p50 beside', 'p99 alone', 'p99 beside', 'ratio'];
    printHead([...names, 'control alone', 'control beside', 'ratio', 'answers']);
    const ratios: number[] = [];
    const controls: number[] = [];
    for (let at = 0; at < Number(values.rounds); at += 1) {
      const alone = await round(load, 0);
      const beside = await round(load, Number(values.readers));
      const of = (part: number): readonly number[] => [alone, beside].map(({ times }) => quantile(times, part));
      const [before = 1, after = 1] = of(0.99);
      ratios.push(after / before);
      const [idle = 1, busy = 1] = [alone, beside].map(({ commits }) => quantile(commits, 0.99));
      controls.push(busy / idle);
      const inMs = (times: readonly number[]): readonly string[] => times.map((ms) => `${ms.toFixed(1)} ms`);
      const cells = [...inMs([...of(0.5), before, after]), (after / before).toFixed(2)];
      printRow([...cells, ...inMs([idle, busy]), (busy / idle).toFixed(2), grouped(beside.answers)]);
    }
    const [ratio, control] = [ratios, controls].map((each) => quantile(each, 0.5).toFixed(2));
    console.log(`\nmedian ratio: ${ratio}, of the control: ${control}`);
  } finally {
    await direct.close();
    await client.close();
    await daemon.stop();
  }
}

await main();
