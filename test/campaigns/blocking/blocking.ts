/**
 * Sends each body of `bodies.ts` to a daemon in another process, and small requests of another project at the same
 * time. Prints how long the event loop was blocked and how long the small requests waited. A body that blocks too
 * long is sent once more to a new daemon: on a shared machine, a pass can take longer without a cause in the body.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import type { Cost } from '../hostile/subject.ts';
import { BODIES, type Blocking } from './bodies.ts';

/** The second time the body is a repetition, the third time it claims the traces of another project. */
const KEYS = [KEY, KEY, OTHER_KEY];
/** Bodies that are too large are made smaller by this factor. */
const SMALLER = 0.8;
/** Below this part of the largest body they are not tried any more. */
const SMALLEST = 0.05;
const TOO_LARGE = 413;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    store: { type: 'string', default: 'file' },
    kib: { type: 'string' },
    bound: { type: 'string', default: '100' },
  },
});

const bound = Number(values.bound);

interface Subject {
  readonly child: ChildProcess;
  readonly url: string;
}

async function startSubject(): Promise<Subject> {
  const child = fork(fileURLToPath(new URL('../hostile/subject.js', import.meta.url)), ['--store', values.store]);
  return { child, ...(await answerOf<{ url: string }>(child)) };
}

function answerOf<T>(child: ChildProcess, question?: string): Promise<T> {
  const answer = new Promise<T>((resolve) => child.once('message', (value) => resolve(value as T)));
  if (question !== undefined) child.send(question);
  return answer;
}

/** Sends small requests one after the other until told to end. Resolves with the time of each. */
async function smallRequests(url: string, end: AbortSignal): Promise<readonly number[]> {
  const took: number[] = [];
  for (let index = 0; !end.aborted; index++) {
    const started = performance.now();
    const body = JSON.stringify(aTraceRequest([aSpan({ name: `small ${index} ${started}` })]));
    const { status } = await send(url, { authorization: `Bearer ${OTHER_KEY}`, body });
    if (status !== 200) throw new Error(`a small request got ${status}`);
    took.push(performance.now() - started);
  }
  return took;
}

const median = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[all.length >> 1] ?? Number.NaN;

/** As large as possible, and the same body smaller, until one is stored. Returns the longest time of all. */
async function measure(subject: Subject, blocking: Blocking): Promise<number> {
  let worst = 0;
  for (let share = 1; ; share *= SMALLER) {
    const { status, blockMs } = await measureBody(subject, blocking, share);
    worst = Math.max(worst, blockMs);
    if (status !== TOO_LARGE || share < SMALLEST) return worst;
  }
}

interface Measured {
  readonly status: number;
  readonly blockMs: number;
}

async function measureBody(
  { child, url }: Subject,
  { name, signal, encoding, make }: Blocking,
  share: number,
): Promise<Measured> {
  const body = gzipSync(make(share), { level: 1 });
  let worst = 0;
  let answered = 0;
  for (const key of KEYS) {
    const end = new AbortController();
    await answerOf(child, 'begin');
    const small = smallRequests(url, end.signal);
    const started = performance.now();
    const { status } = await send(url, {
      path: `/v1/${signal}`,
      authorization: `Bearer ${key}`,
      headers: {
        'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        'content-encoding': 'gzip',
      },
      body,
    });
    const seconds = (performance.now() - started) / 1000;
    end.abort();
    const waits = await small;
    const { blockMs, cpuMs } = await answerOf<Cost>(child, 'cost');
    worst = Math.max(worst, blockMs);
    answered ||= status;
    console.log(
      `${name.padEnd(36)} ${(share * 100).toFixed(0).padStart(3)} % ${status} blocked ${blockMs.toFixed(0).padStart(5)} ms, processor ${cpuMs.toFixed(0).padStart(6)} ms, ` +
        `${seconds.toFixed(1)} s; small requests: ${waits.length}, median ${median(waits).toFixed(0)} ms, longest ${Math.max(...waits).toFixed(0)} ms`,
    );
  }
  return { status: answered, blockMs: worst };
}

/** The bodies that block the event loop of one daemon for too long. */
async function lateOf(bodies: readonly Blocking[]): Promise<readonly Blocking[]> {
  const subject = await startSubject();
  const late: Blocking[] = [];
  for (const body of bodies) if ((await measure(subject, body)) > bound) late.push(body);
  subject.child.disconnect();
  return late;
}

const once = await lateOf(BODIES.filter(({ name }) => name.includes(values.only)));
const late = once.length === 0 ? [] : await lateOf(once);
const names = late.map(({ name }) => name).join(', ');
console.log(late.length === 0 ? `none blocked for more than ${bound} ms` : `blocked: ${names}`);
process.exitCode = late.length === 0 ? 0 : 1;
