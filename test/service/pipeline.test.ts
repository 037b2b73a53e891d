// Internal faults in the pass: answered, contained, and without effect on the data.
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { defineProcessor } from '../../src/component/processor.ts';
import type { Pipeline } from '../../src/component/receiver.ts';
import { COMPONENTS } from '../../src/components.ts';
import type { Batch } from '../../src/pdata/batch.ts';
import { Context, type Signal } from '../../src/pdata/context.ts';
import { UNBOUNDED } from '../../src/pdata/row-room.ts';
import { finish } from '../../src/pdata/steps.ts';
import { Intake } from '../../src/pdata/index-body.ts';
import { MAX_ROWS_AT_ONCE } from '../../src/pdata/layout.ts';
import { RowBudget } from '../../src/service/row-budget.ts';
import { makeClaim } from '../../src/service/settle/claim.ts';
import { actingExporter, receivingInto } from '../support/acting-components.ts';
import { FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../support/daemon.ts';
import * as pb from '../pdata/wasm/protobuf-writer.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';

const body = (name = 'work'): string => JSON.stringify(aTraceRequest([aSpan({ name })]));

/** A processor that runs a function of the test on each batch. */
const acting = (act: (batch: Batch) => void) =>
  defineProcessor<object>({
    type: 'acting',
    summary: 'Does what the test says.',
    stability: 'development',
    schema: { type: 'object', additionalProperties: false, properties: {} },
    example: '{}',
    requires: [],
    provides: [],
    create: () => ({ process: act }),
  });

const withActing = FILE_CONFIG.replace('  environment: {}', '  environment: {}\n  acting: {}').replaceAll(
  '[auth, environment]',
  '[auth, environment, acting]',
);

t.test('an unexpected fault in the pass is 500 without details, and the next request is served', async (t) => {
  const definition = acting((batch) => {
    batch.records.goto(0);
    if (batch.tables.string(batch.records.nameOffset, batch.records.nameLength, batch.records.nameFlags) === 'bad')
      throw new TypeError('inner secret');
  });
  const daemon = await startDaemon(t, { config: withActing, definitions: [...COMPONENTS, definition] });
  const answer = await send(daemon.url, { body: body('bad') });
  t.equal(answer.status, 500);
  t.notMatch(answer.body.toString(), /inner secret/);
  t.equal((await send(daemon.url, { body: body() })).status, 200);
  t.equal((await daemon.rows()).length, 1);
  t.match(daemon.registry.print(), /sluice_refusals\{signal="traces",code="ingestion_failed"\} 1/);
});

t.test('an exporter that cannot encode refuses the request before anything is written', async (t) => {
  const broken = actingExporter('broken', () => ({
    encode: () => {
      throw new Error('no');
    },
    write: async () => undefined,
  }));
  const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { broken: {}, file').replaceAll(
    'exporters: [file]',
    'exporters: [file, broken]',
  );
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, broken] });
  t.equal((await send(daemon.url, { body: body() })).status, 500);
  t.equal(await daemon.file(), '');
});

t.test('when one exporter fails the request gets 503, and a retry is accepted', async (t) => {
  let failing = true;
  const flaky = actingExporter('flaky', () => ({
    encode: (batch) => ({
      signal: batch.signal,
      count: batch.recordCount,
      bytes: 0,
      chunks: [],
      release: () => undefined,
    }),
    write: async () => {
      if (failing) throw new Error('unavailable');
    },
  }));
  const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { flaky: {}, file').replaceAll(
    'exporters: [file]',
    'exporters: [flaky, file]',
  );
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, flaky] });
  const request = { body: body() };
  const answer = await send(daemon.url, request);
  t.equal(answer.status, 503);
  t.equal(answer.headers['retry-after'], '1');
  failing = false;
  t.equal((await send(daemon.url, request)).status, 200, 'no marker was left');
});

t.test(
  'an exporter stages before the commit: a failure is 503 and writes nothing, and a retry is accepted',
  async (t) => {
    let failing = true;
    const written: string[] = [];
    const rowsOf = (signal: Signal, text: string) => ({
      signal,
      count: 1,
      bytes: text.length,
      chunks: [Buffer.from(text)],
      release: () => undefined,
    });
    const staging = actingExporter('staging', () => ({
      encode: ({ signal }) => rowsOf(signal, 'raw'),
      stage: async ({ signal, chunks }) => {
        if (failing) throw new Error('unavailable');
        return rowsOf(signal, `place of ${Buffer.concat(chunks)}`);
      },
      write: async (group) => void written.push(...group.map(({ chunks }) => Buffer.concat(chunks).toString())),
    }));
    const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { staging: {}, file').replaceAll(
      'exporters: [file]',
      'exporters: [staging, file]',
    );
    const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, staging] });
    const request = { body: body() };
    const answer = await send(daemon.url, request);
    t.same([answer.status, answer.headers['retry-after']], [503, '1']);
    t.equal(await daemon.file(), '');
    t.match(daemon.registry.print(), /otelcol_exporter_send_failed_spans\{[^}]*exporter="staging"[^}]*\} 1/);
    failing = false;
    t.equal((await send(daemon.url, request)).status, 200, 'no marker was left');
    t.equal((await send(daemon.url, request)).status, 200, 'a replay is staged as well');
    t.same(written, ['place of raw'], 'and is not written');
  },
);

t.test('rows are reserved before they wait: only a project that exceeds its share gets 503', async (t) => {
  let write = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    write = resolve;
  });
  let waiting = 0;
  const heavy = actingExporter('heavy', () => ({
    encode: ({ signal, recordCount: count }) => ({
      signal,
      count,
      bytes: count > 1 ? 120 * 1024 * 1024 : 1000,
      chunks: [],
      release: () => undefined,
    }),
    write: () => {
      waiting++;
      return gate;
    },
  }));
  const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { heavy: {}, file').replaceAll(
    'exporters: [file]',
    'exporters: [heavy]',
  );
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, heavy] });
  const large = (): string => JSON.stringify(aTraceRequest(Array.from({ length: 20_000 }, () => aSpan({}))));
  const first = send(daemon.url, { body: large() });
  while (waiting === 0) await new Promise((resolve) => setImmediate(resolve));
  const second = await send(daemon.url, { body: large() });
  t.equal(second.status, 503);
  t.equal(second.headers['retry-after'], '1');
  const neighbour = send(daemon.url, { authorization: `Bearer ${OTHER_KEY}`, body: body() });
  write();
  t.same([(await first).status, (await neighbour).status], [200, 200]);
  t.equal((await send(daemon.url, { body: large() })).status, 200, 'the reserved bytes were released');
  t.match(daemon.registry.print(), /sluice_row_bytes_held 0/);
});

t.test('rows that have room in the form of each exporter, but never in those of all, are 413', async (t) => {
  const heavy = actingExporter('heavy', () => ({
    encode: ({ signal, recordCount: count }) => ({
      ...{ signal, count, bytes: (count > 9000 ? 80 : 60) * 1024 * 1024, chunks: [], release: () => undefined },
    }),
    write: async () => undefined,
  }));
  const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { heavy/a: {}, heavy/b: {}, file').replaceAll(
    'exporters: [file]',
    'exporters: [heavy/a, heavy/b]',
  );
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, heavy] });
  const post = async (spans: number): Promise<number> =>
    (await send(daemon.url, { body: JSON.stringify(aTraceRequest(Array.from({ length: spans }, () => aSpan({})))) }))
      .status;
  t.equal(await post(10_000), 413, 'a repetition would never be stored');
  t.equal(await post(9000), 200);
  t.match(daemon.registry.print(), /sluice_row_bytes_held 0/);
});

t.test(
  'a body whose rows are a large multiple of it is 413; usual batches with a large resource are accepted',
  async (t) => {
    const daemon = await startDaemon(t);
    const spans = (count: number): readonly object[] => Array.from({ length: count }, () => aSpan({ name: 'small' }));
    const post = async (content: object) =>
      (
        await send(daemon.url, {
          body: gzipSync(JSON.stringify(content)),
          headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
        })
      ).status;
    t.equal(await post(aTraceRequest(spans(700), { blob: 'a'.repeat(1 << 20) })), 413);
    t.equal((await daemon.rows()).length, 0);
    t.equal(await post(aTraceRequest(spans(8_000), { blob: 'a'.repeat(4096) })), 200);
    t.equal((await daemon.rows()).length, 8_000);
  },
);

t.test('a gzip body that is larger than declared is expanded again, up to the limit of the request', async (t) => {
  const pipelines = new Map<Signal, Pipeline>();
  const config = FILE_CONFIG.replace('receivers: {', 'receivers: { receiving: {},').replace('[otlp]', '[receiving]');
  const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, receivingInto(pipelines)] });
  const text = body('a'.repeat(200_000));
  const authorization = `Bearer ${KEY}`;
  const deliver = async (expectedBytes: number, limitBytes: number): Promise<void> => {
    const admission = await pipelines.get('traces')?.admit({ signal: 'traces', transport: 'http', authorization });
    const gzip = { limitBytes, expectedBytes };
    const replayKey = randomBytes(32);
    try {
      await admission?.deliver({ body: gzipSync(text), gzip, encoding: 'json', replayKey, maxNestingDepth: 64 });
    } finally {
      admission?.release();
    }
  };
  await deliver(1000, 1 << 24);
  await deliver(100_000, 1 << 24);
  await t.rejects(deliver(1000, 100_000), { code: 'body_too_large', details: { limit_bytes: 100_000 } });
  await t.rejects(deliver(1000, 10_000), { code: 'body_too_large', details: { limit_bytes: 10_000 } });
  t.equal((await daemon.rows()).length, 2);
});

t.test('a short body of very many rows is stored', async (t) => {
  const daemon = await startDaemon(t, { config: FILE_CONFIG });
  const events = Buffer.concat(Array.from({ length: MAX_ROWS_AT_ONCE + 1 }, () => Buffer.from([0x5a, 0])));
  for (const [key, encode] of Object.entries({ plain: (bytes: Buffer) => bytes, gzip: gzipSync })) {
    const encoding = key === 'gzip' ? { 'content-encoding': 'gzip' } : {};
    const { status } = await send(daemon.url, {
      headers: { 'content-type': 'application/x-protobuf', ...encoding },
      body: encode(pb.request(pb.span(events))),
    });
    t.equal(status, 200, key);
  }
  t.equal((await daemon.rows()).length, 2);
});

t.test('the traces of a request count as row bytes', async (t) => {
  const traces = 5000;
  const spans = Array.from({ length: traces }, () => aSpan({ traceId: newTraceId() }));
  const body = Buffer.from(JSON.stringify(aTraceRequest(spans)));
  const context = new Context({ signal: 'traces', transport: 'http', authorization: undefined });
  context.credential = {
    project: { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() },
    environment: null,
    keyId: 'static:0',
  };
  const batch = new Intake().index('traces', 'json', body, context);
  batch.setEnvironment(0, batch.tables.constant('default'));
  const claim = () => finish(makeClaim(batch, Buffer.alloc(32)));
  batch.rowRoom = new RowBudget({ maxRequestBytes: 500_000 }).open(batch, body.length);
  t.throws(claim, { code: 'body_too_large' });
  batch.rowRoom = UNBOUNDED;
  t.equal(claim().traces.count, traces);
});

t.test('concurrent requests do not mix: every row has its own project and text', async (t) => {
  const daemon = await startDaemon(t);
  const sent = Array.from({ length: 60 }, (_, index) => ({
    key: index % 2 === 0 ? KEY : OTHER_KEY,
    name: `span of ${index % 2 === 0 ? 'demo' : 'other'} ${index} ${'x'.repeat(index * 50)}`,
  }));
  const answers = await Promise.all(
    sent.map(({ key, name }) => send(daemon.url, { authorization: `Bearer ${key}`, body: body(name) })),
  );
  t.ok(answers.every(({ status }) => status === 200));
  const rows = await daemon.rows();
  t.equal(rows.length, 60);
  t.ok(rows.every((row) => String(row['name']).startsWith(`span of ${String(row['project'])} `)));
  t.same(rows.map((row) => row['name']).sort(), sent.map(({ name }) => name).sort());
});
