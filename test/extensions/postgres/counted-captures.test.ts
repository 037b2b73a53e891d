// No captured call counts twice: `counted_usage` of each captured scenario, compared with the answers of the models.
import { readFileSync } from 'node:fs';
import t from 'tap';
import pg from 'pg';
import { captureFolder, senders } from '../../processors/normalization/captures.ts';
import { startDaemon } from '../../support/daemon.ts';
import { isLong } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig, SERVED } from '../../support/postgres-daemon.ts';

t.setTimeout(300_000);

/** The others are errors, retrievals, or of senders that leave out tokens of streams or tool calls. */
const EXACT = isLong ? 350 : 70;
/** Ordinary runs store one in so many scenarios. */
const ORDINARY_STEP = 5;

/** The client of Anthropic and the instrumentation report in two traces, or beside each other without a common id. */
const TWICE = new Set([
  ...['langsmith-anthropic-py chat', 'langsmith-anthropic-py cached', 'langsmith-anthropic-py stream-cached'],
  ...['logfire-anthropic stream', 'logfire-anthropic stream-cached', 'openinference-anthropic-py stream-cached'],
  ...['chat', 'cached', 'tool', 'agent', 'rag'].map((scenario) => `strands-js-anthropic ${scenario}`),
]);

const SCENARIOS = senders()
  .flatMap(({ sender, scenarios }) =>
    Object.entries(scenarios).map(([name, scenario]) => ({ sender, name, ...scenario })),
  )
  .filter(({ sender, name }, at) => isLong || at % ORDINARY_STEP === 0 || TWICE.has(`${sender} ${name}`));
const keyOf = (at: number): string => `captured-key-${String(at).padStart(4, '0')}`;

t.test('no tokens of a captured scenario count twice', async (t) => {
  const { url } = await createDatabase(t, SERVED);
  const keys = SCENARIOS.map((_, at) => `      - { key: ${keyOf(at)}, project: captured-${at} }\n`).join('');
  const config = postgresConfig({ databaseUrl: url, processors: 'auth, environment, normalization' });
  const daemon = await startDaemon(t, { config: config.replace('    keys:\n', `    keys:\n${keys}`) });
  for (const [at, { sender, files }] of SCENARIOS.entries()) {
    for (const { file, path, content_type } of files) {
      const body = readFileSync(`${captureFolder()}${sender}/${file}`);
      const sending = {
        path: path.slice(path.indexOf('/v1/')),
        body,
        authorization: `Bearer ${keyOf(at)}`,
        headers: { 'content-type': content_type },
      };
      const { status } = await send(daemon.url, sending);
      if (status !== 200) t.fail(`${sender}/${file}: ${status}`);
    }
  }
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ project: string; output: number | null }>(
    'SELECT project, sum(output_tokens)::int AS output FROM counted_usage GROUP BY project',
  );
  await client.end();
  const counted = new Map(rows.map(({ project, output }) => [project, output]));
  let exact = 0;
  for (const [at, { sender, name, calls }] of SCENARIOS.entries()) {
    const answered = calls.reduce((sum, call) => sum + Number(call['output_tokens'] ?? 0), 0);
    const output = counted.get(`captured-${at}`) ?? 0;
    // Some senders report one token more, and some report none.
    const once = output <= answered + calls.length;
    t.equal(once, !TWICE.has(`${sender} ${name}`), `${sender} ${name}: ${output} of ${answered}`);
    if (answered > 0 && output === answered) exact++;
  }
  t.ok(exact > EXACT, `${exact} scenarios are exact`);
});
