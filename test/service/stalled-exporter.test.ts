// An exporter whose disk does not answer: its requests are answered 503 before their outcome is known.
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import { actingExporter } from '../support/acting-components.ts';
import { FILE_CONFIG, startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';

const body = (name: string): string => JSON.stringify(aTraceRequest([aSpan({ name })]));

/** An exporter whose `stage` or `write` waits while it is stalled. */
function stallable(part: 'stage' | 'write') {
  const callbacks = new Set<() => void>();
  const waiting: (() => void)[] = [];
  let stalled = false;
  let released = 0;
  const rows = {
    ...{ signal: 'traces' as const, count: 1, bytes: 1, chunks: [] },
    release: () => void released++,
  };
  const answer = (): Promise<void> =>
    stalled ? new Promise((resolve) => void waiting.push(resolve)) : Promise.resolve();
  const definition = actingExporter('stallable', () => ({
    encode: () => rows,
    ...(part === 'write' ? {} : { stage: () => answer().then(() => ({ ...rows, release: () => undefined })) }),
    write: () => (part === 'write' ? answer() : Promise.resolve()),
    isStalled: () => stalled,
    onStalled: (callback) => {
      callbacks.add(callback);
      return () => void callbacks.delete(callback);
    },
  }));
  return {
    definition,
    callbacks,
    released: () => released,
    stall: () => void (stalled = true),
    /** When a request waits. */
    report: async () => {
      while (waiting.length === 0) await new Promise((resolve) => setImmediate(resolve));
      for (const callback of callbacks) callback();
    },
    answer: () => {
      stalled = false;
      for (const resolve of waiting.splice(0)) resolve();
    },
  };
}

for (const part of ['stage', 'write'] as const)
  t.test(`a ${part} that makes no progress: 503, and the same request again is stored once`, async (t) => {
    const { definition, callbacks, released, stall, report, answer } = stallable(part);
    const config = FILE_CONFIG.replace('exporters: { file', 'exporters: { stallable: {}, file').replaceAll(
      'exporters: [file]',
      'exporters: [stallable, file]',
    );
    const daemon = await startDaemon(t, { config, definitions: [...COMPONENTS, definition] });
    const names = async (): Promise<unknown[]> => (await daemon.rows()).map(({ name }) => name);
    const first = { body: body('first') };
    stall();
    const answered = send(daemon.url, first);
    await report();
    const { status, headers } = await answered;
    t.same([status, headers['retry-after']], [503, '1']);
    t.equal(released(), 0, 'the rows are in use');
    t.equal((await send(daemon.url, { body: body('second') })).status, 503, 'at once');
    answer();
    t.equal((await send(daemon.url, first)).status, 200);
    t.equal((await send(daemon.url, { body: body('second') })).status, 200);
    t.same(await names(), ['first', 'second']);
    t.equal(released(), 3, 'those of the first request twice');
    await daemon.stop();
    t.equal(callbacks.size, 0);
  });
