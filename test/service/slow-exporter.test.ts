// Requests that were read while a store is slow wait until the memory for rows has room; none costs a pass for nothing.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { Admission, Delivery, Pipeline } from '../../src/component/receiver.ts';
import { COMPONENTS } from '../../src/components.ts';
import type { RequestInfo, Signal } from '../../src/pdata/context.ts';
import { actingExporter, receivingInto } from '../support/acting-components.ts';
import { FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../support/daemon.ts';
import { aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';

const SPANS = 200;
const aBody = (spans = SPANS): Buffer => {
  const traceId = newTraceId();
  return Buffer.from(JSON.stringify(aTraceRequest(Array.from({ length: spans }, () => aSpan({ traceId })))));
};
const polls = async (count: number): Promise<void> => {
  for (let poll = 0; poll < count; poll++) await new Promise((resolve) => setImmediate(resolve));
};
/** For all exporters together. The rows of a hundred such requests have room, and those of two hundred have not. */
const ROW_BYTES = 1024 * 1024;
const REQUESTS = 300;

/** An exporter whose writes end when the test says so. */
function heldExporter(bytes: number) {
  const waiting: (() => void)[] = [];
  let isHeld = true;
  let encoded = 0;
  const definition = actingExporter('held', () => ({
    encode: ({ signal, recordCount }) => {
      encoded++;
      return { signal, count: recordCount, bytes, chunks: [], release: () => undefined };
    },
    write: () => (isHeld ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve()),
  }));
  return {
    definition,
    encoded: () => encoded,
    release: () => {
      isHeld = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

/** A daemon whose requests the test gives to the pipeline. */
async function startReceiving(t: Parameters<typeof startDaemon>[0], exporters: number) {
  const pipelines = new Map<Signal, Pipeline>();
  const held = heldExporter(ROW_BYTES / exporters);
  const ids = Array.from({ length: exporters }, (_, index) => `held/${index}`);
  const config = FILE_CONFIG.replace('receivers: {', 'receivers: { receiving: {},')
    .replace('[otlp]', '[receiving]')
    .replace('exporters: { file', `exporters: { ${ids.map((id) => `${id}: {}`).join(', ')}, file`)
    .replaceAll('exporters: [file]', `exporters: [${ids.join(', ')}]`);
  await startDaemon(t, { config, definitions: [...COMPONENTS, receivingInto(pipelines), held.definition] });
  return { held, pipeline: pipelines.get('traces') as Pipeline };
}

const requestOf = (key: string): RequestInfo => ({
  signal: 'traces',
  transport: 'http',
  authorization: `Bearer ${key}`,
});

const deliver = (admission: Admission, delivery: Partial<Delivery> = {}): Promise<string> =>
  admission
    .deliver({
      ...{ body: aBody(), gzip: null, encoding: 'json', replayKey: randomBytes(32), maxNestingDepth: 64 },
      ...delivery,
    })
    .then(
      () => 'stored',
      (error: Error) => error.message,
    )
    .finally(() => admission.release());

for (const exporters of [1, 2]) {
  t.test(`with ${exporters} exporters, requests admitted before the memory for rows was full are stored`, async (t) => {
    const { held, pipeline } = await startReceiving(t, exporters);
    const passes = (): number => held.encoded() / exporters;
    const request = requestOf(KEY);
    const admissions = await Promise.all(Array.from({ length: REQUESTS }, () => pipeline.admit(request)));
    const answers = admissions.map((admission) => deliver(admission));
    let before = -1;
    while (before !== passes() || before === 0) {
      before = passes();
      await polls(50);
    }
    t.ok(before > 100 && before < 200, `${before} passes fill the memory`);
    await t.rejects(pipeline.admit(request), { code: 'overloaded' }, 'a request that arrives now is not read');
    held.release();
    t.same(new Set(await Promise.all(answers)), new Set(['stored']));
    t.equal(passes(), REQUESTS, 'each had one pass');
  });
}

t.test('a pass that begins again with more memory does not wait for room again', async (t) => {
  const { held, pipeline } = await startReceiving(t, 1);
  const other = await Promise.all(Array.from({ length: 2 }, () => pipeline.admit(requestOf(OTHER_KEY))));
  const demo = await Promise.all(Array.from({ length: 128 }, () => pipeline.admit(requestOf(KEY))));
  const [first, second] = other as [Admission, Admission];
  const answers = [deliver(first), ...demo.map((admission) => deliver(admission))];
  while (held.encoded() < answers.length) await polls(1);
  const gzip = { expectedBytes: 1000, limitBytes: 1 << 24 };
  answers.push(deliver(second, { body: gzipSync(aBody(1000)), gzip }));
  await polls(200);
  t.equal(held.encoded(), answers.length);
  held.release();
  t.same(new Set(await Promise.all(answers)), new Set(['stored']));
});
