/** Records whose names, models and ids are long. What the commands print of them is bounded. */
import t from 'tap';
import { LONGEST_NAME } from '../../src/extensions/console/api/texts.ts';
import { folderOf } from '../support/config-files.ts';
import { sluice } from '../support/command-line.ts';
import { startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);
const LENGTH = 200_000;
/** The limit of one record: some texts of at most `LONGEST_NAME` characters, and its figures. */
const MOST_CHARACTERS = 12 * LONGEST_NAME;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

const config = postgresConfig({
  databaseUrl: (await createDatabase(t, SERVED)).url,
  processors: 'auth, environment, normalization',
});
const daemon = await startDaemon(t, { config });
const folder = folderOf({ 'a.yaml': config });

const text = (key: string) => ({ key, value: { stringValue: `${key} `.padEnd(LENGTH, 'x') } });
const now = BigInt(Date.now()) * 1_000_000n;
const scopeSpans = [
  {
    spans: [
      {
        traceId: TRACE,
        spanId: '00f067aa0ba902b7',
        name: 'name '.padEnd(LENGTH, 'x'),
        startTimeUnixNano: String(now - 1_000_000n),
        endTimeUnixNano: String(now),
        status: { code: 2, message: 'message '.padEnd(LENGTH, 'x') },
        attributes: [
          { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
          { key: 'gen_ai.usage.input_tokens', value: { intValue: '12' } },
          ...['gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.agent.name', 'gen_ai.tool.name'].map(text),
          ...['gen_ai.conversation.id', 'user.id', 'error.type'].map(text),
        ],
      },
    ],
  },
];
const logRecord = {
  traceId: TRACE,
  timeUnixNano: String(now),
  severityText: 'severity '.padEnd(LENGTH, 'x'),
  eventName: 'event '.padEnd(LENGTH, 'x'),
};

t.before(async () => {
  const resource = { attributes: [text('service.name')] };
  const bodies = {
    traces: { resourceSpans: [{ resource, scopeSpans }] },
    logs: { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [logRecord] }] }] },
  };
  for (const [signal, body] of Object.entries(bodies)) {
    const answer = await send(daemon.url, { path: `/v1/${signal}`, body: JSON.stringify(body) });
    if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
  }
});

const QUESTIONS = [
  ['traces'],
  ['trace', TRACE],
  ...['model', 'user', 'service', 'agent', 'conversation'].map((by) => ['usage', '--by', by]),
];
for (const words of QUESTIONS)
  t.test(words.join(' '), async (t) => {
    for (const form of [[], ['--json']]) {
      const { out, err, code } = await sluice([...words, ...form, '-c', 'a.yaml'], { folder });
      t.equal(code, 0, err);
      t.match(out, /x{20}/, 'a part of a name is printed');
      t.ok(out.length < MOST_CHARACTERS, `${out.length} characters`);
    }
  });
