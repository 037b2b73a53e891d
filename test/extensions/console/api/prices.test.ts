/** The prices of a project's models with their sources, and how long its records are kept. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { storePrice } from '../../../../src/extensions/postgres/price-directory.ts';
import { Administration } from '../../../../src/extensions/postgres/administration.ts';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { freePort, openFolder, startExecutable } from '../../../support/executable.ts';
import { createDatabase } from '../../../support/postgres.ts';
import { SERVED } from '../../../support/postgres-daemon.ts';

const CALLS = [
  ['openai', 'gpt-5-mini'],
  ['openai', 'gpt-5-mini'],
  ['openai', 'our-model'],
  ['vllm', 'shared-model'],
  ['vllm', 'unknown-model'],
] as const;

const configOf = (url: string, otlp: number, page: number): string => `
extensions:
  postgres: { url: "${url}", allow_unsafe: true }
  console: { endpoint: "127.0.0.1:${page}", auth: { mode: none } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${otlp}" } } } }
processors: { auth: {}, environment: {}, normalization: {}, pricing: {} }
exporters: { postgres: { retention: { logs: 36h } } }
service:
  extensions: [postgres, console]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment, normalization, pricing], exporters: [postgres] }
`;

const priceOf = (id: string, model: string, input: string) => ({
  id,
  entry: { id, match: { model }, prices: [{ rates: { input, output: '1' } }] },
});

t.test('the prices of models and whose they are, and the retention', { timeout: 120_000 }, async (t) => {
  const { url } = await createDatabase(t, SERVED);
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  const administration = new Administration(database, { id: null, name: 'a test' });
  await administration.createProject('shop', 'paid', null);
  await storePrice(database, { ...priceOf('own', 'our-model', '0.5'), project: 'shop' });
  await storePrice(database, { ...priceOf('all', 'shared-model', '0.25'), project: null });
  const { text: key } = await administration.createKey('shop', null, null);
  const [otlp, page] = [await freePort(), await freePort()];
  const folder = openFolder(t);
  writeFileSync(join(folder, 'sluice.yaml'), configOf(url, otlp, page));
  const running = startExecutable(['run'], folder);
  t.teardown(async () => {
    running.child.kill('SIGTERM');
    await running.ended;
  });
  await running.until('Sluice is ready');
  const now = String(BigInt(Date.now()) * 1_000_000n);
  const spans = CALLS.map(([provider, model], at) => ({
    ...{ traceId: 'a'.repeat(32), spanId: String(at + 1).repeat(16), name: 'chat', kind: 3 },
    ...{ startTimeUnixNano: now, endTimeUnixNano: now },
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.provider.name', value: { stringValue: provider } },
      { key: 'gen_ai.request.model', value: { stringValue: model } },
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '10' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: '1' } },
    ],
  }));
  const answer = await fetch(`http://127.0.0.1:${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  });
  t.equal(answer.status, 200);
  // biome-ignore lint/suspicious/noExplicitAny: the test matches parts of it.
  const ask = async (path: string): Promise<any> =>
    (await fetch(`http://127.0.0.1:${page}/api/v1/projects/shop/${path}`)).json();
  const { items, known } = await ask('prices');
  t.equal(known, true);
  t.match(items, [
    { provider: 'openai', model: 'gpt-5-mini', call_count: 2, unpriced_count: 0, stated_count: 0 },
    { provider: 'openai', model: 'our-model', price: { source: 'project', entry: 'own', rates: { input: '0.5' } } },
    { provider: 'vllm', model: 'shared-model', price: { source: 'all_projects', rates: { input: '0.25' } } },
    { provider: 'vllm', model: 'unknown-model', unpriced_count: 1, price_id: null, price: null },
  ]);
  const [{ price, price_id: id }] = items;
  t.match(price, {
    source: 'bundled',
    version: /^\d+\.\d+\.\d+\+[0-9a-f]+$/u,
    rates: { input: /^\d/u, output: /^\d/u },
  });
  t.ok(String(id).startsWith(`genai-prices@${price.version} openai/${price.entry} `), String(id));
  const day = 86_400;
  t.same(await ask('retention'), {
    ...{ spans_seconds: 30 * day, logs_seconds: 1.5 * day, metrics_seconds: 90 * day },
    ...{ archived: false, oldest_trace_unix_nano: now },
  });
});
