/** Conversions of rows on the event loop and in a thread. */
import t from 'tap';
import type { ConsoleError } from '../../../../src/extensions/console/errors.ts';
import { OTLP_JSON, SPANS_PROTOBUF } from '../../../../src/extensions/console/api/otlp-conversions.ts';
import { JAEGER_SPANS } from '../../../../src/extensions/console/jaeger/span-json.ts';
import { RowThread } from '../../../../src/extensions/console/server/row-thread.ts';
import { fails, isOnEventLoop, MODULE } from '../../../support/sample-conversions.ts';
import type { StoredText } from '../../../../src/pdata/stored-text.ts';

const SHORT: readonly StoredText[] = [{ name: 'a' }];
const LONG: readonly StoredText[] = [{ name: 'a'.repeat(1_000_000) }];

t.test('long rows are converted in a thread, short ones are not', async (t) => {
  const thread = new RowThread();
  t.equal(await thread.convert({ module: MODULE, convert: isOnEventLoop }, SHORT), true);
  t.equal(await thread.convert({ module: MODULE, convert: isOnEventLoop }, LONG), false);
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index]));
  const rows = [{ trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), attributes: JSON.stringify(many) }];
  t.equal(await thread.convert(OTLP_JSON.traces, rows), OTLP_JSON.traces.convert(rows));
});

t.test('a failed conversion fails alone', async (t) => {
  const thread = new RowThread();
  const failed = thread.convert({ module: MODULE, convert: fails }, LONG);
  const next = thread.convert({ module: MODULE, convert: isOnEventLoop }, LONG);
  await t.rejects(failed, { name: 'TypeError', message: 'no text' });
  t.equal(await next, false);
});

t.test('rows with too many values are refused', async (t) => {
  const thread = new RowThread();
  const rowsWith = (values: number) => [
    { attributes: `{"text": "${',\\"'.repeat(100_000)}", "list": [${'0, '.repeat(values)}0]}` },
  ];
  const codeFor = (values: number) =>
    thread
      .convert({ module: MODULE, convert: isOnEventLoop }, rowsWith(values))
      .catch(({ code }: ConsoleError) => code);
  t.equal(await codeFor(299_990), false);
  t.equal(await codeFor(300_010), 'request_invalid');
  t.equal(await codeFor(299_990), false);
});

t.test('a conversion ends with the console', async (t) => {
  const thread = new RowThread();
  const [running, waiting] = [1, 2].map(() => thread.convert({ module: MODULE, convert: isOnEventLoop }, LONG));
  const ended = Promise.allSettled([running, waiting]);
  // Until the first thread exists.
  await new Promise((resolve) => setImmediate(resolve));
  await thread.stop();
  for (const { status } of await ended) t.equal(status, 'rejected');
});

t.test('every conversion is exported under its own name, where the thread finds it', async (t) => {
  for (const { module, convert } of [OTLP_JSON.traces, OTLP_JSON.logs, SPANS_PROTOBUF, JAEGER_SPANS])
    t.equal((await import(module))[convert.name], convert, convert.name);
});
