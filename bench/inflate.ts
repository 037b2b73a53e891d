/**
 * Expanding gzip on one core: the WASM module's inflater compared with gunzipSync, which gets the length in advance.
 * Prints a line for each kind of body: microseconds of a body, best and median, and MB/s.
 *
 *   node dist/bench/inflate.js [--rounds 40]
 */
import { gunzipSync } from 'node:zlib';
import { readArguments } from './arguments.ts';
import { gunzip } from '../src/pdata/gunzip.ts';
import { loadWire } from '../src/pdata/load-wasm.ts';
import { finish } from '../src/pdata/steps.ts';
import { makeCorpus } from './corpus.ts';

const LIMIT_BYTES = 16 * 1024 * 1024;
const MIN_CHUNK_BYTES = 65536;
/**
 * Bodies of one sample: enough for the resolution of the clock, and few enough that some samples have no other load.
 */
const SAMPLE = 40;
const WARM_UP_ROUNDS = 5;

interface Subject {
  readonly name: string;
  readonly samples: number[];
  expand(body: Buffer): Uint8Array;
}

/** Processor time, which other load affects least. It includes garbage collection. */
function sample(bodies: readonly Buffer[], { expand }: Subject): number {
  const started = process.cpuUsage();
  for (let done = 0; done < SAMPLE; done++) expand(bodies[done % bodies.length] as Buffer);
  const { user, system } = process.cpuUsage(started);
  return (user + system) / SAMPLE;
}

function measure(name: string, bodies: readonly Buffer[], rounds: number): string {
  const wire = loadWire(1n);
  const subjects: readonly Subject[] = [
    { name: 'module', samples: [], expand: (body) => finish(gunzip(wire, body, LIMIT_BYTES)) },
    {
      name: 'gunzipSync',
      samples: [],
      expand: (body) => {
        const chunkSize = Math.max(body.readUInt32LE(body.length - 4) + 1, MIN_CHUNK_BYTES);
        return gunzipSync(body, { maxOutputLength: LIMIT_BYTES, chunkSize });
      },
    },
  ];
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const subject of subjects) {
      const time = sample(bodies, subject);
      if (round >= 0) subject.samples.push(time);
    }
  }
  const bytes = bodies.reduce((sum, body) => sum + gunzipSync(body).length, 0) / bodies.length;
  const facts = subjects.map(({ name, samples }) => {
    samples.sort((left, right) => left - right);
    const [best = Number.NaN, median = Number.NaN] = [samples[0], samples[samples.length >> 1]];
    return `${name} ${best.toFixed(0)} / ${median.toFixed(0)} us = ${Math.round(bytes / best)} MB/s`;
  });
  const [ours = Number.NaN, theirs = Number.NaN] = subjects.map(({ samples }) => samples[samples.length >> 1]);
  return `${name} (${Math.round(bytes / 1000)} kB): ${facts.join(' | ')} | ${(theirs / ours).toFixed(2)}x`;
}

function main(): void {
  const { values } = readArguments(import.meta.url, { options: { rounds: { type: 'string', default: '40' } } });
  const corpus = makeCorpus();
  for (const kind of ['genai', 'micro', 'logs', 'metrics'] as const) {
    for (const form of ['pbGz', 'jsonGz'] as const) {
      const bodies = corpus[kind].map((body) => body[form]);
      process.stdout.write(`${measure(`${kind} ${form}`, bodies, Number(values.rounds))}\n`);
    }
  }
}

main();
