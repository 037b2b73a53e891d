/**
 * What the reading commands print must not depend on where the records are: in the tables, in objects, or in the files
 * that compactions publish of them.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { Step } from '../../src/archive/archive-day.ts';
import { NEAR_NS } from '../../src/component/archived-day.ts';
import { sluice as call } from '../support/command-line.ts';
import { type CompactionScene, startCompaction } from '../support/compaction-scene.ts';
import { requests } from '../support/generators.ts';
import { isLong, longTest } from '../support/long.ts';
import { send } from '../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';
import { encodeProtobuf, loadProtos, SIGNALS } from '../support/protos.ts';
import { DAY_NS } from '../../src/pdata/time-units.ts';
import '../support/long-file.ts';

t.setTimeout(600_000);

const PATHS = ['/v1/traces', '/v1/logs', '/v1/metrics'];
const PROCESSORS = 'auth, environment, normalization';

type Commands = readonly (readonly string[])[];

const post = async (scene: CompactionScene, path: string, body: object): Promise<void> => {
  const { status } = await send(scene.url, { path, body: JSON.stringify(body) });
  if (status !== 200) throw new Error(`a request was answered ${status}`);
};

const sendSpans = (scene: CompactionScene, spans: readonly object[]): Promise<void> =>
  post(scene, '/v1/traces', aTraceRequest(spans));

/** The output of commands, which must succeed. */
async function outputs({ commands: folder }: CompactionScene, commands: Commands): Promise<readonly string[]> {
  const found: string[] = [];
  for (const args of commands) {
    const { code, out, err } = await call(args, { folder });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
    found.push(out);
  }
  return found;
}

async function requireSame(t: Test, scene: CompactionScene, commands: Commands, wanted: readonly string[]) {
  const found = await outputs(scene, commands);
  for (const [index, args] of commands.entries()) {
    const texts = [found[index] ?? '', wanted[index] ?? ''];
    const [one, other] = args[0] === 'export' ? texts.map((text) => linesOf(text, args.includes('metrics'))) : texts;
    t.same(one, other, args.join(' '));
  }
}

/** Records of one time have no order. The value of a metric that is a whole number is read as an integer. */
function linesOf(text: string, hasValues: boolean): readonly string[] {
  const lines = text.split('\n').sort();
  return hasValues ? lines.map((line) => (line === '' ? '' : JSON.stringify(JSON.parse(line)))) : lines;
}

/** As if the exporter `postgres` had not been there. */
async function emptyTables({ client }: CompactionScene): Promise<void> {
  await client.query('UPDATE sluice.parts SET in_tables = false');
  await client.query('TRUNCATE sluice.spans, sluice.logs, sluice.metric_points');
}

const GENAI = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.model': 'm-1', 'gen_ai.conversation.id': 'c-1' };

/** A trace of a conversation, with log records, and another one of the day before. */
async function sendStory(scene: CompactionScene) {
  const [traceId, earlier] = [newTraceId(), newTraceId()];
  const start = BigInt(Date.now() - 60_000) * 1_000_000n;
  const root = aSpan({ name: 'root', traceId, start });
  const usage = { 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.output_tokens': 3, 'gen_ai.usage.cost': 0.0125 };
  const modelCall = aSpan({ name: 'chat m-1', traceId, start: start + 5n, attributes: { ...GENAI, ...usage } });
  await sendSpans(scene, [root]);
  await sendSpans(scene, [modelCall, aSpan({ name: 'old', traceId: earlier, start: start - DAY_NS })]);
  const logs = [
    { timeUnixNano: String(start + 7n), traceId, spanId: 'ab'.repeat(8), body: { stringValue: 'a\\b\n"c"\t\u2028' } },
    { observedTimeUnixNano: String(start + 8n), traceId, body: { intValue: '9007199254740993' } },
    { body: { stringValue: 'without a time' } },
  ];
  await post(scene, '/v1/logs', aLogRequest([...logs, ...logs]));
  await post(scene, '/v1/metrics', aMetricRequest([aGauge('load', 0.5)]));
  return { traceId, earlier, start, root, spanId: String((modelCall as { spanId: string }).spanId) };
}

/** Commands of each kind of answer; a long test tries all. */
const commandsOf = ({ traceId, earlier, spanId }: Awaited<ReturnType<typeof sendStory>>): Commands => [
  ['trace', traceId, '--json', '--content'],
  ['usage', '--by', 'conversation', '--since', '2d'],
  ['traces', '--json'],
  ['export', '--what', 'logs'],
  ...(isLong
    ? [
        ['span', spanId, '--json'],
        ['conversation', 'c-', '--json'],
        ['export', '--what', 'spans'],
        ['export', '--what', 'metrics'],
        ['trace', earlier.slice(0, 20), '--json'],
        ['conversation', 'c-1'],
        ['explain', traceId, '--json'],
        ['usage', '--by', 'day', '--since', 'all'],
        ['traces', '--json', '--limit', '1'],
        ['traces', '--json', '--search', 'chat', '--project', 'demo'],
        ['export', '--what', 'traces', '--as', 'otlp'],
      ]
    : []),
];

/** Sends random requests of each signal, which may be refused. */
async function sendRandom({ url }: CompactionScene, numRuns: number): Promise<void> {
  const protos = loadProtos();
  for (const signal of SIGNALS)
    for (const message of fc.sample(requests(signal), { numRuns, seed: 7 })) {
      const headers = { 'content-type': 'application/x-protobuf' };
      const body = encodeProtobuf(protos.requests[signal], message);
      await send(url, { path: PATHS[signal] as string, headers, body });
    }
}

t.test('every value is read back from objects, while they are published, and from their files', async (t) => {
  const scene = await startCompaction(t, 'postgres, objects', PROCESSORS);
  await sendRandom(scene, isLong ? 60 : 4);
  const story = await sendStory(scene);
  const all = commandsOf(story);
  const wanted = await outputs(scene, all);
  const { err } = await call(['trace', story.traceId], { folder: scene.commands });
  t.equal(err, '', 'what the tables have is not read from objects');
  await emptyTables(scene);
  await requireSame(t, scene, all, wanted);
  t.match(await call(['trace', story.traceId], { folder: scene.commands }), { err: /^Read \d+ requests in objects: / });
  const some = all.slice(0, isLong ? 4 : 1);
  const wantedOfSome = some.map((args) => wanted[all.indexOf(args)] ?? '');
  const steps: readonly Step[] = isLong ? ['write', 'put', 'publish'] : ['publish'];
  for (const step of steps) {
    const report = (reported: string): void => {
      if (reported === step) throw new Error('interrupted');
    };
    await t.rejects(scene.run({ report }), /interrupted/u);
    await requireSame(t, scene, some, wantedOfSome);
  }
  // The spans become files, and the others stay in objects.
  await scene.client.query("UPDATE sluice.parts SET received_at = now() + interval '1 day' WHERE signal <> 'spans'");
  await scene.run();
  await requireSame(t, scene, some, wantedOfSome);
  await scene.client.query("UPDATE sluice.parts SET received_at = now() WHERE signal <> 'spans'");
  await scene.run();
  await requireSame(t, scene, all, wanted);
  // The time before the trace, which is read too, may be of the day before, which has a file.
  const isOfTwoDays = story.start / DAY_NS !== (story.start - NEAR_NS) / DAY_NS;
  const days = isOfTwoDays ? '2 archived days' : '1 archived day';
  const { err: read } = await call(['trace', story.traceId], { folder: scene.commands });
  t.ok(read.startsWith(`Read ${days}: `), read);
});

t.test('an object that is lost or damaged is left out, and named once', async (t) => {
  const scene = await startCompaction(t, 'objects', PROCESSORS);
  const names = async (): Promise<readonly string[]> => {
    const { out } = await call(['export'], { folder: scene.commands });
    return out.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).name]));
  };
  for (const name of ['first', 'second']) await sendSpans(scene, [aSpan({ name })]);
  t.same([...(await names())].sort(), ['first', 'second']);
  const [key = ''] = scene.files('objects');
  const path = join(scene.lake, key);
  const whole = readFileSync(path);
  const damaged = Buffer.from(whole);
  damaged[whole.length - 6] = (damaged[whole.length - 6] ?? 0) ^ 0xff;
  const damages: readonly (readonly [damage: () => void, reason: RegExp])[] = [
    [() => rmSync(path), /it does not exist/u],
    [() => writeFileSync(path, whole.subarray(0, 20)), /the object is shorter/u],
    [() => writeFileSync(path, ''), /has 0 bytes/u],
    [() => writeFileSync(path, damaged), /is left out: \S/u],
  ];
  // An ordinary test has the first and the last one.
  for (const [damage, reason] of damages.filter((_, at) => isLong || at % (damages.length - 1) === 0)) {
    damage();
    const { code, out, err } = await call(['export'], { folder: scene.commands });
    t.equal(code, 1);
    t.equal(out.split('\n').length, 2, 'the other record');
    t.match(err, reason);
    t.equal(err.split(`${key} in `).length, 2, err);
    t.match(err, /error: the answer is incomplete: 1 file of the archive cannot be read/u);
    writeFileSync(path, whole);
  }
  t.equal((await names()).length, 2);
});

longTest('a span that is sent again in other bytes is shown once, wherever both are', async (t) => {
  const scene = await startCompaction(t, 'objects', PROCESSORS);
  const traceId = newTraceId();
  const usage = { ...GENAI, 'gen_ai.usage.input_tokens': 12 };
  const start = BigInt(Date.now()) * 1_000_000n;
  const again = aSpan({ name: 'again', traceId, start, attributes: usage });
  const namesOf = async (): Promise<readonly string[]> => {
    const [trace, spans, sums] = await outputs(scene, [
      ['trace', traceId, '--json'],
      ['export', '--project', 'demo'],
      ['usage', '--json'],
    ]);
    t.equal(JSON.parse(sums ?? '').total.input_tokens, 12, 'its tokens are counted once');
    const lines = (spans ?? '').trimEnd().split('\n');
    t.equal(lines.length, JSON.parse(trace ?? '').spans.length);
    return JSON.parse(trace ?? '').spans.map(({ name }: { readonly name: string }) => name);
  };
  await sendSpans(scene, [again]);
  await sendSpans(scene, [{ ...again, name: 'other words' }, aSpan({ name: 'b', traceId, start: start + 1n })]);
  t.same(await namesOf(), ['again', 'b'], 'both in objects');
  await scene.run();
  await sendSpans(scene, [{ ...again, name: 'later' }, aSpan({ name: 'c', traceId, start: start + 2n })]);
  t.same(await namesOf(), ['again', 'b', 'c'], 'one in a file, one in an object');
  await scene.run();
  t.same(await namesOf(), ['again', 'b', 'c'], 'in files');
});
