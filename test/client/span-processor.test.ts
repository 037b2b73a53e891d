/** The span processor: its limits, failures of the exporter, and what it never does to the application. */
import { context, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { NodeTracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace-node';
import t from 'tap';
import { ExportFailure } from '../../src/client/failure.ts';
import { SluiceSpanProcessor, type SpanProcessorOptions } from '../../src/client/span-processor.ts';
import { startRemote } from '../support/fake-remote.ts';
import { FakeClock } from './fake-clock.ts';
import { aSpan, openMeter, someSpans, unsampled, watchDiag } from './telemetry.ts';

t.setTimeout(300_000);

type Done = Parameters<SpanExporter['export']>[1];

/** Keeps the batches. It succeeds at once, or when a test calls the kept callback. */
class ManualExporter implements SpanExporter {
  readonly batches: ReadableSpan[][] = [];
  readonly waiting: Done[] = [];
  isManual = false;
  shutdowns = 0;

  export(spans: ReadableSpan[], done: Done): void {
    this.batches.push(spans);
    if (this.isManual) this.waiting.push(done);
    else done({ code: 0 });
  }

  async shutdown(): Promise<void> {
    this.shutdowns += 1;
  }

  get sizes(): readonly number[] {
    return this.batches.map(({ length }) => length);
  }
}

function open(options: SpanProcessorOptions = {}) {
  const exporter = new ManualExporter();
  const clock = new FakeClock();
  const processor = new SluiceSpanProcessor({ exporter, spanMetrics: false, ...options }, clock);
  return { exporter, clock, processor };
}

/** Lets the promises of this process settle. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const end = (processor: SluiceSpanProcessor, spans: readonly ReadableSpan[]): void => {
  for (const span of spans) processor.onEnd(span);
};

t.test('64 spans are sent at once, fewer after 1,000 ms', async (t) => {
  const { exporter, clock, processor } = open();
  end(processor, someSpans(63));
  clock.advance(999);
  await settle();
  t.strictSame(exporter.sizes, [], 'before');
  clock.advance(1);
  await settle();
  t.strictSame(exporter.sizes, [63]);
  end(processor, someSpans(64));
  await settle();
  t.strictSame(exporter.sizes, [63, 64]);
  t.strictSame(clock.waiting, [], 'no timer without spans');
  end(processor, someSpans(1));
  t.strictSame(clock.waiting, [1000]);
});

t.test('one batch is sent at a time, and none is larger than 64', async (t) => {
  const { exporter, clock, processor } = open();
  exporter.isManual = true;
  end(processor, someSpans(200));
  await settle();
  t.strictSame(exporter.sizes, [64]);
  for (const sizes of [
    [64, 64],
    [64, 64, 64],
  ]) {
    exporter.waiting.shift()?.({ code: 0 });
    await settle();
    t.strictSame(exporter.sizes, sizes);
  }
  exporter.waiting.shift()?.({ code: 0 });
  await settle();
  t.strictSame(exporter.sizes, [64, 64, 64], 'the rest waits for its time');
  clock.advance(1000);
  await settle();
  t.strictSame(exporter.sizes, [64, 64, 64, 8]);
});

t.test('2,048 spans wait; further ones are dropped, counted, and reported once', async (t) => {
  const messages = watchDiag(t);
  const { exporter, processor } = open();
  exporter.isManual = true;
  end(processor, someSpans(64));
  await settle();
  end(
    processor,
    Array.from({ length: 2048 + 100 }, () => aSpan()),
  );
  t.equal(processor.droppedSpans, 100);
  t.strictSame(messages, ['warn: sluice: spans are dropped: the queue is full (2048) (reported once)']);
  exporter.isManual = false;
  exporter.waiting.shift()?.({ code: 0 });
  await processor.shutdown();
  t.equal(
    exporter.sizes.reduce((sum, size) => sum + size, 0),
    64 + 2048,
  );
  t.strictSame(messages.slice(1), ['info: sluice: 100 spans were not stored in all']);
});

t.test('the limits can be set', async (t) => {
  const { exporter, clock, processor } = open({ batchSize: 2, queueSize: 3, scheduledDelayMs: 50 });
  exporter.isManual = true;
  end(processor, someSpans(7));
  t.equal(processor.droppedSpans, 2, 'two are sent, three wait');
  await settle();
  t.strictSame(exporter.sizes, [2]);
  exporter.waiting.shift()?.({ code: 0 });
  await settle();
  exporter.waiting.shift()?.({ code: 0 });
  await settle();
  clock.advance(50);
  await settle();
  t.strictSame(exporter.sizes, [2, 2, 1]);
});

t.test('an exporter without an answer holds up the next batch for 30 s', async (t) => {
  const messages = watchDiag(t);
  const { exporter, clock, processor } = open();
  exporter.isManual = true;
  end(processor, someSpans(128));
  await settle();
  clock.advance(29_999);
  await settle();
  t.strictSame(exporter.sizes, [64]);
  clock.advance(1);
  await settle();
  t.strictSame(exporter.sizes, [64, 64]);
  t.equal(processor.droppedSpans, 64);
  t.match(messages[0], /took longer than 30000 ms/u);
});

t.test('no failure of an exporter reaches the application, and each cause is reported once', async (t) => {
  const messages = watchDiag(t);
  const failing: SpanExporter = {
    export: (_spans, done) => done({ code: 1, error: new Error('refused') }),
    shutdown: () => Promise.reject(new Error('still busy')),
  };
  const throwing: SpanExporter = {
    export: () => {
      throw new Error('broken');
    },
    shutdown: () => {
      throw new Error('broken at the end');
    },
  };
  for (const exporter of [failing, throwing]) {
    const { processor } = open({ exporter, batchSize: 1 });
    end(processor, someSpans(3));
    await processor.forceFlush();
    t.equal(processor.droppedSpans, 3);
    await processor.shutdown();
  }
  t.equal(messages.filter((message) => message.startsWith('warn')).length, 2, messages.join('\n'));
  const { processor } = open();
  t.doesNotThrow(() => processor.onEnd({} as ReadableSpan));
});

t.test('of a batch that was stored in part, only the lost spans are counted', async (t) => {
  watchDiag(t);
  const error = new ExportFailure('refused', { reason: 'refused', lost: 2 });
  const partial: SpanExporter = { export: (_spans, done) => done({ code: 1, error }), shutdown: async () => undefined };
  const { processor } = open({ exporter: partial });
  end(processor, someSpans(5));
  await processor.forceFlush();
  t.equal(processor.droppedSpans, 2);
});

t.test('unsampled spans are not sent', async (t) => {
  const { exporter, processor } = open();
  end(processor, [unsampled(aSpan({ name: 'unsampled' })), aSpan({ name: 'sampled' })]);
  await processor.forceFlush();
  t.strictSame(
    exporter.batches.flat().map(({ name }) => name),
    ['sampled'],
  );
});

t.test(
  'forceFlush sends all ended spans; shutdown also those that end meanwhile, and later ones are dropped',
  async (t) => {
    watchDiag(t);
    const { exporter, processor } = open();
    end(processor, someSpans(130));
    await processor.forceFlush();
    t.strictSame(exporter.sizes, [64, 64, 2]);
    exporter.isManual = true;
    end(processor, someSpans(1));
    const closed = processor.shutdown();
    await settle();
    end(processor, someSpans(5));
    exporter.isManual = false;
    exporter.waiting.shift()?.({ code: 0 });
    await closed;
    t.strictSame(exporter.sizes, [64, 64, 2, 1, 5]);
    t.equal(exporter.shutdowns, 1);
    end(processor, someSpans(2));
    t.equal(processor.droppedSpans, 2);
    await processor.shutdown();
    t.equal(exporter.shutdowns, 1);
  },
);

t.test('spans that end without pause do not prolong a shutdown', async (t) => {
  const messages = watchDiag(t);
  const { exporter, processor } = open();
  const { export: send } = exporter;
  exporter.export = (spans, done) => {
    if (exporter.batches.length < 10) end(processor, someSpans(1));
    send.call(exporter, spans, done);
  };
  end(processor, someSpans(1));
  await processor.shutdown();
  t.strictSame(exporter.sizes, [1, 1, 1], 'the spans that end during the last export are not sent');
  t.equal(processor.droppedSpans, 1);
  t.match(messages[0], /spans are dropped: they ended after the shutdown/u);
});

t.test('a shutdown ends after 30 s, also with a full queue', async (t) => {
  watchDiag(t);
  const { exporter, clock, processor } = open();
  exporter.isManual = true;
  end(processor, someSpans(300));
  const closed = processor.shutdown();
  for (let step = 0; step < 31; step += 1) {
    clock.advance(1000);
    await settle();
  }
  await closed;
  t.equal(processor.droppedSpans, 300 - 64, 'the result of the last batch is not known yet');
  clock.advance(30_000);
  await settle();
  t.equal(processor.droppedSpans, 300);
  t.strictSame(exporter.sizes, [64, 64]);
});

t.test('a batch waits for resource attributes that are read asynchronously', async (t) => {
  const { exporter, processor } = open();
  const id = Promise.resolve('host-1');
  const resource = resourceFromAttributes({ 'host.id': id });
  const provider = new NodeTracerProvider({ resource, spanProcessors: [processor] });
  provider.getTracer('test').startSpan('early').end();
  await processor.forceFlush();
  t.equal(exporter.batches[0]?.[0]?.resource.attributes['host.id'], 'host-1');
  await provider.shutdown();
});

t.test('exports make no spans', async (t) => {
  const provider = new NodeTracerProvider();
  provider.register();
  t.teardown(() => {
    trace.disable();
    context.disable();
  });
  let recording = true;
  const exporter: SpanExporter = {
    export: (_spans, done) => {
      recording = provider.getTracer('http').startSpan('POST').isRecording();
      done({ code: 0 });
    },
    shutdown: async () => undefined,
  };
  const { processor } = open({ exporter });
  end(processor, someSpans(1));
  await processor.forceFlush();
  t.equal(recording, false);
});

t.test('without a key and an exporter it does nothing', async (t) => {
  const clock = new FakeClock();
  const processor = new SluiceSpanProcessor({ key: '', endpoint: 'http://127.0.0.1:1' }, clock);
  processor.onStart({} as never, ROOT_CONTEXT);
  end(processor, someSpans(100));
  t.strictSame(clock.waiting, []);
  await processor.forceFlush();
  await processor.shutdown();
  t.equal(processor.droppedSpans, 0);
});

t.test('a wrong endpoint is reported and does not throw', async (t) => {
  const messages = watchDiag(t);
  const processor = new SluiceSpanProcessor({ key: 'some-key', endpoint: 'not a URL' });
  end(processor, someSpans(1));
  await processor.shutdown();
  t.match(messages, [/^error: sluice: nothing is sent: the endpoint "not a URL" is not a URL/u]);
});

t.test('metrics of the spans are recorded, also of unsampled ones', async (t) => {
  const { provider, collect } = openMeter();
  const { processor } = open({ spanMetrics: true, meterProvider: provider });
  const span = aSpan({ attributes: { 'gen_ai.operation.name': 'chat' } });
  end(processor, [span, unsampled(span), aSpan()]);
  const [metric] = (await collect()).scopeMetrics.flatMap(({ metrics }) => metrics);
  t.match(metric, { descriptor: { name: 'gen_ai.client.operation.duration' }, dataPoints: [{ value: { count: 2 } }] });
  await processor.shutdown();
});

t.test('its own metrics are sent with the same key and the resource of the spans', async (t) => {
  const remote = await startRemote(t);
  const processor = new SluiceSpanProcessor({ key: 'some-key-of-a-test', endpoint: remote.url });
  end(processor, [aSpan({ attributes: { 'gen_ai.operation.name': 'chat' } })]);
  await processor.forceFlush();
  await processor.shutdown();
  const metrics = remote.requests.filter(({ path }) => path === '/v1/metrics');
  t.ok(metrics.length >= 1);
  t.equal(metrics[0]?.headers.authorization, 'Bearer some-key-of-a-test');
  t.equal(remote.requests.filter(({ path }) => path === '/v1/traces').length, 1);
});
