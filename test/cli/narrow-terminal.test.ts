/** Tables on a narrow terminal: no line is wider, and no figure is lost. */
import t from 'tap';
import { describeTable } from '../../src/cli/view/table.ts';
import { makeStyle } from '../../src/cli/terminal.ts';
import { widthOf } from '../../src/cli/view/screen-text.ts';
import { folderOf } from '../support/config-files.ts';
import { sluice } from '../support/command-line.ts';
import { startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);
const NARROW = [40, 60];
const STYLE = makeStyle(false);

const config = postgresConfig({
  databaseUrl: (await createDatabase(t, SERVED)).url,
  processors: 'auth, environment, normalization',
});
const daemon = await startDaemon(t, { config });
const folder = folderOf({ 'a.yaml': config });
const run = (words: readonly string[], columns?: number) =>
  sluice([...words, ...(words[0] === 'size' ? [] : ['-c', 'a.yaml'])], {
    folder,
    ...(columns === undefined ? {} : { columns }),
  });

const now = BigInt(Date.now()) * 1_000_000n;
const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
const spanOf = (number: number) => ({
  traceId: String(number).repeat(32),
  spanId: String(number).repeat(16),
  name: `answer the question of a customer about the order ${number} 日本語`,
  startTimeUnixNano: String(now - 1_000_000n),
  endTimeUnixNano: String(now),
  attributes: [
    text('gen_ai.operation.name', 'chat'),
    text('gen_ai.provider.name', 'openai'),
    text('gen_ai.request.model', `a-model-of-our-own-with-a-long-name-${number}`),
    text('user.id', `a.customer.with.a.long.name.${number}@example.com`),
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '123456' } },
    { key: 'gen_ai.usage.output_tokens', value: { intValue: '7654' } },
  ],
});

t.before(async () => {
  const resourceSpans = [1, 2].map((number) => ({
    resource: { attributes: [text('service.name', `customer-service-${number}`)] },
    scopeSpans: [{ spans: [spanOf(number)] }],
  }));
  const answer = await send(daemon.url, { body: JSON.stringify({ resourceSpans }) });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
  await run(['project', 'create', 'shop']);
  await run([
    'key',
    'create',
    '--project',
    'shop',
    '--label',
    'the key of the service that answers customers at night',
  ]);
});

/** The words of each command, the heads of its table, and texts that stay whole on every terminal. */
const COMMANDS: readonly (readonly [readonly string[], RegExp, readonly string[]])[] = [
  [['traces'], /^AGE +TRACE +NAME +SPANS/u, ['111111111111', '222222222222', '123k → 7.7k']],
  [['usage'], /^PROVIDER +MODEL +CALLS +INPUT/u, ['openai', '123k', '247k', 'total']],
  [['usage', '--by', 'user'], /^PROJECT +USER +CALLS +INPUT/u, ['123k', '247k']],
  [['key', 'list'], /^ID +PROJECT +ENVIRONMENT/u, ['shop', '(all)', 'active']],
  [['size', '--spans-per-second', '100', '--days', '30'], /^ +daemon +database/mu, ['GiB', '$']],
];

for (const [words, heads, whole] of COMMANDS) {
  t.test(`sluice ${words.join(' ')}`, async (t) => {
    for (const columns of NARROW) {
      const { code, out } = await run(words, columns);
      t.equal(code, 0);
      for (const line of out.split('\n')) t.ok(widthOf(line) <= columns, `${columns} columns: ${line}`);
      for (const each of whole) t.ok(out.includes(each), `${columns} columns: ${each}`);
      t.notMatch(out, /\n\n\n/u);
    }
    t.match((await run(words, 200)).out, heads, 'a wide terminal has a table');
    t.match((await run(words)).out, heads, 'so has a script, which reads lines');
  });
}

t.test('a usual terminal has a table of traces, without the counts for which there is no room', async (t) => {
  for (const columns of [80, 76]) {
    const { out } = await run(['traces'], columns);
    t.match(out, /^AGE +TRACE +NAME +(?:CALLS +)?TOKENS +COST +TOOK/u);
    for (const line of out.split('\n')) t.ok(widthOf(line) <= columns, line);
  }
  t.match((await run(['traces'], 120)).out, /^AGE +TRACE +NAME +SPANS +CALLS +TOKENS/u);
});

const KEYS = { heads: [['ID', 'LABEL', 'CALLS']], shrinking: [1], numbersFrom: 2 };
const ROWS = [
  ['a1', 'a label of some words', '7'],
  ['b2', '', '1234'],
];

t.test('a table that fits is a table, and a text that may be cut is cut first', async (t) => {
  const at = (tableWidth: number): string => describeTable({ ...KEYS, rows: ROWS }, { tableWidth, style: STYLE });
  t.equal(
    at(40),
    'ID  LABEL                  CALLS\na1  a label of some words      7\nb2                          1234',
  );
  t.equal(at(32), at(40));
  t.equal(at(29), 'ID  LABEL               CALLS\na1  a label of some w…      7\nb2                       1234');
  t.equal(at(26), 'ID     a1\nLABEL  a label of some\n       words\nCALLS  7\n\nID     b2\nCALLS  1234');
});
