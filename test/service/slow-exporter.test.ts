// Requests that were read while a store is slow wait until the memory for rows has room; none costs a pass for nothing.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { Pipeline } from '../../src/component/receiver.ts';
import { COMPONENTS } from '../../src/components.ts';
import type { Signal } from '../../src/pdata/context.ts';
import { actingExporter, receivingInto } from '../support/acting-components.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../support/daemon.ts';
import { aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';

const SPANS = 200;
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

for (const exporters of [1, 2]) {
  t.test(`with ${exporters} exporters, requests admitted before the memory for rows was full are stored`, async (t) => {
    const pipelines = new Map<Signal, Pipeline>();
    const held = heldExporter(ROW_BYTES / exporters);
    const passes = (): number => held.encoded() / exporters;
    const ids = Array.from({ length: exporters }, (_, index) => `held/${index}`);
    const config = FILE_CONFIG.replace('receivers: {', 'receivers: { receiving: {},')
      .replace('[otlp]', '[receiving]')
      .replace('exporters: { file', `exporters: { ${ids.map((id) => `${id}: {}`).join(', ')}, file`)
      .replaceAll('exporters: [file]', `exporters: [${ids.join(', ')}]`);
    await startDaemon(t, { config, definitions: [...COMPONENTS, receivingInto(pipelines), held.definition] });
    const pipeline = pipelines.get('traces') as Pipeline;
    const request = { signal: 'traces', transport: 'http', authorization: `Bearer ${KEY}` } as const;
    const admissions = await Promise.all(Array.from({ length: REQUESTS }, () => pipeline.admit(request)));
    const body = (): Buffer => {
      const traceId = newTraceId();
      return Buffer.from(JSON.stringify(aTraceRequest(Array.from({ length: SPANS }, () => aSpan({ traceId })))));
    };
    const answers = admissions.map((admission) =>
      admission
        .deliver({ body: body(), gzip: null, encoding: 'json', replayKey: randomBytes(32), maxNestingDepth: 64 })
        .then(
          () => 'stored',
          (error: Error) => error.message,
        ),
    );
    let before = -1;
    while (before !== passes() || before === 0) {
      before = passes();
      for (let poll = 0; poll < 50; poll++) await new Promise((resolve) => setImmediate(resolve));
    }
    t.ok(before > 100 && before < 200, `${before} passes fill the memory`);
    await t.rejects(pipeline.admit(request), { code: 'overloaded' }, 'a request that arrives now is not read');
    held.release();
    t.same(new Set(await Promise.all(answers)), new Set(['stored']));
    t.equal(passes(), REQUESTS, 'each had one pass');
    for (const admission of admissions) admission.release();
  });
}
