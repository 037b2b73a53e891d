/** Log records of one time are in the order in which they were stored, as in the lists of the console. */
import t from 'tap';
import type { Reader } from '../../../src/cli/reader.ts';
import { listCalls, readTurns } from '../../../src/cli/view/conversation-record.ts';
import { readSpan } from '../../../src/cli/view/span-record.ts';
import { readTrace } from '../../../src/cli/view/trace-record.ts';
import { MS_NS } from '../../../src/pdata/time-units.ts';
import { BASE_NS, hex, logRow, spanRow, startReading, store } from '../../support/console-reading.ts';

/** With so many, the order of `ctid` as text is another one. */
const COUNT = 40;
const TRACE = 1;
const [key, span] = [
  { project: 'demo', environment: 'default', traceId: hex(TRACE, 16).slice(2) },
  hex(0xabc, 8),
] as const;
const NAMES = Array.from({ length: COUNT }, (_, at) => `event ${at}`);

const reading = await startReading(t);
await store(reading, [spanRow({ trace: TRACE, span_id: span, category: 'model_call' })]);
const said = (event_name: string, at: number): object => ({
  ...{ event_name, input_content: event_name },
  // Several requests are stored at once, so that one which arrived later can be first.
  received_at: new Date(Number(BASE_NS / MS_NS) + COUNT - at).toISOString(),
});
await reading.insert(
  'logs',
  NAMES.flatMap((name, at) => [
    logRow({ ...said(name, at), trace_id: hex(TRACE, 16), span_id: span }),
    logRow({ ...said(name, at), conversation_id: 'c' }),
  ]),
);
const reader = { views: reading.reader.views, query: reading.reader.query.bind(reading.reader) } as unknown as Reader;

t.test('in a trace', async (t) => {
  const { logs } = await readTrace(reader, key, COUNT);
  t.same(
    logs.map((log) => log.event_name),
    NAMES,
  );
  const first = await readTrace(reader, key, COUNT / 2);
  t.same(
    first.logs.map((log) => log.event_name),
    NAMES.slice(0, COUNT / 2),
    'the first ones',
  );
});

t.test('in a span', async (t) => {
  const { logs } = await readSpan(reader, { ...key, spanId: span.slice(2), startNs: String(BASE_NS) });
  t.same(
    logs.map((log) => log['event_name']),
    NAMES,
  );
});

t.test('in a conversation', async (t) => {
  const ofLogs = { project: 'demo', conversationId: 'c', isOfLogs: true };
  const names: string[] = [];
  for await (const { call } of readTurns(reader, ofLogs, await listCalls(reader, ofLogs), true)) names.push(call.name);
  t.same(names, NAMES);
});
