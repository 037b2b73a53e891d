// A disk that does not answer: requests are answered 503, and each is stored once when they are sent again.
import fc from 'fast-check';
import t from 'tap';
import type { Claim } from '../../../src/component/capabilities/ledger.ts';
import type { Exporter, Rows } from '../../../src/component/exporter.ts';
import { Rejection } from '../../../src/errors.ts';
import type { NdjsonFile } from '../../../src/exporters/file/ndjson-file.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { MemoryLedger } from '../../../src/service/settle/memory-ledger.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { NO_TRACES } from '../../support/claimed-traces.ts';
import { makeNdjsonScene } from '../../support/ndjson-scene.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { QUIET } from '../../support/quiet-logger.ts';

const RUNS = 30;
const PROJECT = { name: 'demo', plan: 'paid' as const, monthlySpans: null, privacy: new Map() };

/** A disk that answers nothing from `close` to `open`. */
class Gate {
  #opened: Promise<void> = Promise.resolve();
  #open = (): void => undefined;

  readonly pass = (): Promise<void> => this.#opened;

  close(): void {
    this.open();
    this.#opened = new Promise((resolve) => (this.#open = resolve));
  }

  open(): void {
    this.#open();
  }
}

const lineOf = (name: string): string => `{"signal":"${name}"}`;

/** The line of a request. Its memory is overwritten when it is released, as the next request does. */
function rowsOf(name: string): Rows & { released: number } {
  const chunk = Buffer.from(`${lineOf(name)}\n`);
  return {
    signal: 'traces',
    count: 1,
    bytes: chunk.length,
    chunks: [chunk],
    released: 0,
    release() {
      this.released++;
      chunk.fill('!');
    },
  };
}

const claimOf = (name: string): Claim => ({
  ...{ project: PROJECT, signal: 'traces', traces: NO_TRACES, spanCount: 1, recordCount: 1 },
  replayKey: Buffer.from(name),
});

function exporterOf(file: NdjsonFile): Exporter {
  return {
    encode: () => rowsOf(''),
    write: (group) => file.append(group.flatMap(({ chunks }) => chunks)),
    isStalled: () => file.isStalled,
  };
}

async function scene(stallMs: number) {
  const log: string[] = [];
  const note = (_: object, message: string): void => void log.push(message);
  const files = await makeNdjsonScene({ stallMs, logger: { debug: note, info: note, warn: note, error: note } });
  const gate = new Gate();
  files.files.hold = gate.pass;
  const file = await files.open();
  const exporter = exporterOf(file);
  const commit = new GroupCommit(new MemoryLedger(Date.now), QUIET, new Registry());
  file.onStalled(() => commit.stalledExporters.add(exporter));
  const send = async (name: string): Promise<string> => {
    const rows = rowsOf(name);
    try {
      const { replayed } = await commit.stalledExporters.until(commit.settle(claimOf(name), [{ exporter, rows }]));
      return replayed ? 'replayed' : 'stored';
    } catch (error) {
      if (error instanceof Rejection) return error.code;
      throw error;
    }
  };
  const sendUntilAccepted = async (name: string): Promise<string> => {
    for (;;) {
      const answer = await send(name);
      if (answer !== 'ingestion_failed') return answer;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const close = async (): Promise<void> => {
    gate.open();
    commit.close();
    await commit.drain();
    await files.close();
  };
  return { gate, file, log, send, sendUntilAccepted, lines: files.lines, close };
}

t.test('requests of a disk that does not answer are refused, and stored once when they are sent again', async (t) => {
  const { gate, file, log, send, sendUntilAccepted, lines, close } = await scene(20);
  t.teardown(close);
  await sendUntilAccepted('before');
  log.length = 0;
  gate.close();
  t.equal(await send('first'), 'ingestion_failed');
  t.notOk(file.healthy);
  t.equal(await send('second'), 'ingestion_failed', 'at once, although the write has not ended');
  t.same(log, ['the disk does not answer: requests are answered 503 until it does']);
  gate.open();
  await waitFor(async () => (file.healthy ? true : undefined), { timeoutMs: PATIENCE_MS });
  t.equal(log[1], 'the disk answers again');
  t.equal(await sendUntilAccepted('first'), 'replayed');
  await sendUntilAccepted('second');
  t.same(await lines(), ['before', 'first', 'second'].map(lineOf));
});

t.test('with stalls at any time, each request that is sent until it is accepted is stored once', async () => {
  const step = fc.record({ burst: fc.integer({ min: 1, max: 6 }), stalls: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const { gate, send, sendUntilAccepted, lines, close } = await scene(1);
      const names: string[] = [];
      const accepted: Promise<void>[] = [];
      for (const { burst, stalls } of steps) {
        if (stalls) gate.close();
        const sent = Array.from({ length: burst }, (_, index) => `${names.length + index}`);
        names.push(...sent);
        const answers = sent.map(async (name) => ({ name, answer: await send(name) }));
        accepted.push(
          ...answers.map(async (one) => {
            const { name, answer } = await one;
            if (answer === 'ingestion_failed') await sendUntilAccepted(name);
          }),
        );
        if (stalls) await Promise.all(answers);
        gate.open();
      }
      await Promise.all(accepted);
      const stored = [...(await lines())].sort();
      await close();
      const expected = names.map(lineOf).sort();
      if (stored.join() !== expected.join()) throw new Error(`stored: ${stored.join()}`);
    }),
    { numRuns: RUNS },
  );
});
