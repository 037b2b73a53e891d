/**
 * The cost of redaction: the privacy processor with every preset compared with the same processor without rules, on the
 * same bodies, alternating. `prose` is this repository's architecture document as the bodies of log records; the others
 * are the bodies of all benchmarks. `node dist/bench/redaction.js [--rounds 15] [--each]` prints processor microseconds
 * of a KiB of body; `--each`: every preset alone.
 */
import { processAtOnce } from '../test/support/process-at-once.ts';
import { readFileSync } from 'node:fs';
import { Context, type Encoding, type Signal } from '../src/pdata/context.ts';
import { SIGNAL_LOGS } from '../src/pdata/layout.ts';
import { PRESET_NAMES } from '../src/processors/privacy/redaction/presets.ts';
import { Scene } from '../test/processors/privacy/scene.ts';
import { encodeProtobuf, loadProtos } from '../test/support/protos.ts';
import { readArguments } from './arguments.ts';
import { makeCorpus } from './corpus.ts';
import { median } from '../src/cli/bench/figures.ts';
import { ownProcessorMs } from './processor-time.ts';

/** Long enough that the resolution of the clock and one garbage collection do not matter. */
const SAMPLE_MS = 40;
const BATCHES = 4;

interface Subject {
  readonly name: string;
  readonly work: (body: Buffer) => void;
}

/** Processor time of one body, on average over all bodies. */
function sample(bodies: readonly Buffer[], work: (body: Buffer) => void): number {
  const started = ownProcessorMs();
  let done = 0;
  let elapsed = 0;
  while (elapsed < SAMPLE_MS) {
    for (const body of bodies) work(body);
    done += bodies.length;
    elapsed = ownProcessorMs() - started;
  }
  return elapsed / done;
}

/** Each subject runs the index and the processor. The first has no rules and is the baseline. */
function subjects(signal: Signal, encoding: Encoding, each: boolean): readonly Subject[] {
  const choices: readonly (readonly [name: string, presets: readonly (typeof PRESET_NAMES)[number][]])[] = [
    ['no rules', []],
    ['all presets', PRESET_NAMES],
    ...(each ? PRESET_NAMES.map((name) => [name, [name]] as const) : []),
  ];
  const scene = new Scene();
  const { intake } = scene.tables;
  return choices.map(([name, presets]) => {
    const processor = scene.processor({ redact: presets.map((preset) => ({ preset })) });
    const work = (body: Buffer): void => {
      const batch = intake.index(
        signal,
        encoding,
        body,
        new Context({ signal, transport: 'http', authorization: undefined }),
      );
      batch.context.credential = CREDENTIAL;
      for (let resource = 0; resource < batch.resourceCount; resource++)
        batch.setEnvironment(resource, batch.tables.constant('bench'));
      processAtOnce(processor, batch);
    };
    return { name, work };
  });
}
const CREDENTIAL = {
  project: { name: 'bench', plan: 'paid', monthlySpans: null, privacy: new Map() },
  environment: null,
  keyId: 'bench',
} as const;

/** The paragraphs of a document, one log record each. */
function proseBody(encoding: Encoding): Buffer {
  const text = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8');
  const logRecords = text.split('\n\n').map((paragraph) => ({ body: { stringValue: paragraph } }));
  const request = { resourceLogs: [{ scopeLogs: [{ logRecords }] }] };
  if (encoding === 'json') return Buffer.from(JSON.stringify(request));
  return encodeProtobuf(loadProtos().requests[SIGNAL_LOGS], request);
}

function main(): void {
  const { values } = readArguments(import.meta.url, {
    options: { rounds: { type: 'string', default: '15' }, each: { type: 'boolean', default: false } },
  });
  const corpus = makeCorpus(1, BATCHES);
  const kinds: readonly (readonly [kind: string, signal: Signal, bodies: (encoding: Encoding) => readonly Buffer[]])[] =
    [
      ['prose', 'logs', (encoding) => [proseBody(encoding)]],
      ...(
        [
          ['genai', 'traces'],
          ['micro', 'traces'],
          ['logs', 'logs'],
        ] as const
      ).map(
        ([kind, signal]) =>
          [
            kind,
            signal,
            (encoding: Encoding) => corpus[kind].map(({ json, pb }) => (encoding === 'json' ? json : pb)),
          ] as const,
      ),
    ];
  for (const [kind, signal, bodiesIn] of kinds)
    for (const encoding of ['protobuf', 'json'] as const) {
      const bodies = bodiesIn(encoding);
      const kib = bodies.reduce((sum, body) => sum + body.length, 0) / bodies.length / 1024;
      const all = subjects(signal, encoding, values.each);
      for (const { work } of all) sample(bodies, work);
      const extra = all.map((): number[] => []);
      for (let round = 0; round < Number(values.rounds); round++) {
        const [plain = 0, ...redacting] = all.map(({ work }) => sample(bodies, work));
        for (const [index, time] of redacting.entries()) extra[index]?.push(((time - plain) * 1000) / kib);
      }
      const figures = all.slice(1).map(({ name }, index) => `${name} ${median(extra[index] ?? []).toFixed(2)}`);
      process.stdout.write(`${kind} ${encoding}, us/KiB more than without rules: ${figures.join(' | ')}\n`);
    }
}

main();
