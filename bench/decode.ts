/**
 * From bytes to NDJSON rows on one core: the WASM module (strict) compared with protobufjs and JSON.parse (not strict).
 * Prints the medians of a batch, one line for each kind of body and encoding.
 *
 *   node dist/bench/decode.js [--rounds 15] [--only genai|micro|logs|metrics]
 */
import { readArguments } from './arguments.ts';
import { ENCODING_JSON, ENCODING_PROTOBUF, SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../src/pdata/layout.ts';
import { ModuleRun } from '../test/support/oracle-module.ts';
import { ENCODING_NAMES, loadProtos, type Signal } from '../test/support/protos.ts';
import { Baseline } from './baseline.ts';
import { type Body, makeCorpus } from './corpus.ts';

/** Long enough that the resolution of the clock and one garbage collection do not matter. */
const SAMPLE_MILLISECONDS = 60;
const WARM_UP_MILLISECONDS = 300;

/** Runs a task over the bodies for a time. Returns processor microseconds of a body, which other load affects least. */
function sample(bodies: readonly Buffer[], milliseconds: number, task: (body: Buffer) => void): number {
  const started = process.cpuUsage();
  let done = 0;
  let elapsed = 0;
  while (elapsed < milliseconds * 1000) {
    for (const body of bodies) task(body);
    done += bodies.length;
    const { user, system } = process.cpuUsage(started);
    elapsed = user + system;
  }
  return elapsed / done;
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

interface Subject {
  readonly name: string;
  readonly task: (body: Buffer) => void;
}

/** Alternates the subjects by round, so that other load affects all of them equally. */
function measure(bodies: readonly Buffer[], subjects: readonly Subject[], rounds: number): readonly number[] {
  for (const { task } of subjects) sample(bodies, WARM_UP_MILLISECONDS, task);
  const samples = subjects.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { task }] of subjects.entries()) samples[index]?.push(sample(bodies, SAMPLE_MILLISECONDS, task));
  }
  return samples.map(median);
}

function report(
  kind: string,
  encoding: number,
  body: Body,
  subjects: readonly Subject[],
  times: readonly number[],
): void {
  const facts = subjects.map(({ name }, index) => {
    const microseconds = times[index] ?? 0;
    return `${name} ${microseconds.toFixed(0)} us = ${Math.round((body.records * 1e6) / microseconds)} records/s`;
  });
  const last = (times.at(-1) ?? 0) / (times[1] ?? 1);
  process.stdout.write(`${kind} ${ENCODING_NAMES[encoding]}: ${facts.join(' | ')} | ${last.toFixed(1)}x\n`);
}

function main(): void {
  const { values } = readArguments(import.meta.url, {
    options: { rounds: { type: 'string', default: '15' }, only: { type: 'string' } },
  });
  const module = new ModuleRun();
  const baseline = new Baseline(loadProtos());
  const corpus = makeCorpus();
  const kinds: readonly (readonly [keyof typeof corpus, Signal])[] = [
    ['genai', SIGNAL_TRACES],
    ['micro', SIGNAL_TRACES],
    ['logs', SIGNAL_LOGS],
    ['metrics', SIGNAL_METRICS],
  ];
  for (const [kind, signal] of kinds) {
    if (values.only !== undefined && values.only !== kind) continue;
    for (const encoding of [ENCODING_PROTOBUF, ENCODING_JSON]) {
      const [first] = corpus[kind];
      if (first === undefined) continue;
      const bodies = corpus[kind].map((body) => (encoding === ENCODING_JSON ? body.json : body.pb));
      const index = (body: Buffer) => {
        if (!module.index(signal, encoding, body).accepted) throw new Error(`${kind} was refused`);
      };
      const subjects: readonly Subject[] = [
        { name: 'index', task: index },
        {
          name: 'index + NDJSON',
          task: (body) => {
            index(body);
            module.encodeInPlace();
          },
        },
        {
          name: 'libraries',
          task: (body) => {
            if (encoding === ENCODING_JSON) baseline.json(signal, body);
            else baseline.protobuf(signal, body);
          },
        },
      ];
      report(kind, encoding, first, subjects, measure(bodies, subjects, Number(values.rounds)));
    }
  }
}

main();
