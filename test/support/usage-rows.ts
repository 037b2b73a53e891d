/** Traces of closed days whose figures follow from several records: roll-ups, repetitions, log records that count. */
import { CLOSED_MS, type Scene } from './archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

export type Values = Readonly<Record<string, string | number | boolean | null>>;

/** Partitions of log records are opened from CLOSED_MS on. The story has days before this one. */
const MIDDLE_MS = CLOSED_MS + 2 * DAY_MS;

/** `at`: milliseconds after the beginning of the middle day. */
export interface StoredTrace {
  readonly id: string;
  readonly project: string;
  readonly at: number;
}

const nsAt = (at: number): string => String(BigInt(MIDDLE_MS + at) * 1_000_000n);

export const traceIdOf = (number: number): string => (number * 4099).toString(16).padEnd(32, '7d');
export const spanIdOf = (number: number): string => number.toString(16).padStart(16, 'c');

async function store({ query }: Pick<Scene, 'query'>, table: string, row: Values): Promise<void> {
  const names = Object.keys(row);
  const list = names.map((_, index) => `$${index + 1}`).join(', ');
  await query(`INSERT INTO sluice.${table} (${names.join(', ')}) VALUES (${list})`, Object.values(row));
}

/** `number` is the id of the span; `parent` that of another one. */
export async function storeSpan(
  scene: Pick<Scene, 'query'>,
  { id, project, at }: StoredTrace,
  { number, parent, ...more }: Values & { readonly number: number },
): Promise<void> {
  const start = nsAt(at);
  await store(scene, 'spans', {
    project,
    environment: 'default',
    service_name: 'shop',
    trace_id: `\\x${id}`,
    span_id: `\\x${spanIdOf(number)}`,
    parent_span_id: parent === undefined || parent === null ? null : `\\x${spanIdOf(Number(parent))}`,
    name: `span ${number}`,
    start_time_unix_nano: start,
    end_time_unix_nano: String(BigInt(start) + 5_000_000n),
    duration_ns: '5000000',
    resource: '{"service.name": "shop", "n": 1.50}',
    attributes: `{"a\\tb": "tab\\t newline\\n back\\\\slash", "number": ${number}}`,
    received_at: new Date(MIDDLE_MS + at + 40).toISOString(),
    ...more,
  });
}

export async function storeLog(
  scene: Pick<Scene, 'query'>,
  { id, project, at }: StoredTrace,
  more: Values,
): Promise<void> {
  await store(scene, 'logs', {
    project,
    environment: 'default',
    service_name: 'shop',
    time_unix_nano: nsAt(at),
    severity_text: 'INFO',
    body: '{"text": "two\\nlines", "n": [1, null, 2.50]}',
    trace_id: `\\x${id}`,
    resource: '{"service.name": "shop"}',
    attributes: '{}',
    received_at: new Date(MIDDLE_MS + at + 60).toISOString(),
    ...more,
  });
}

async function storePoint(scene: Pick<Scene, 'query'>, at: number, more: Values): Promise<void> {
  await store(scene, 'metric_points', {
    project: 'shop',
    environment: 'default',
    name: 'queue.size',
    type: 'gauge',
    time_unix_nano: nsAt(at),
    resource: '{}',
    attributes: '{"q": "a"}',
    received_at: new Date(MIDDLE_MS + at + 10).toISOString(),
    ...more,
  });
}

/** As ingest keeps the claims: the outermost times of the spans. */
export const storeClaims = (scene: Pick<Scene, 'query'>): Promise<unknown> =>
  scene.query(`INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns, created_at)
    SELECT trace_id, project, min(environment), min(start), max(start), min(received_at) FROM (
      SELECT trace_id, project, environment, start_time_unix_nano AS start, received_at FROM sluice.spans
      UNION ALL SELECT trace_id, project, environment, NULL, received_at FROM sluice.logs WHERE trace_id IS NOT NULL
    ) r GROUP BY trace_id, project ON CONFLICT DO NOTHING`);

const call = (input: number, cost: string | null, more: Values = {}): Values => ({
  category: 'model_call',
  provider: 'openai',
  request_model: 'gpt-5-mini',
  response_model: 'gpt-5-mini-2026-01-01',
  input_tokens: input,
  output_tokens: 7,
  total_tokens: input + 7,
  usage_scope: 'own',
  total_cost: cost,
  input_content: '[{"role": "user", "content": "hello\\n\\t\\\\. \\u00e4"}]',
  output_content: 'a line\n\\.\nanother \\N one\r\n\ttab',
  ...more,
});

/** The traces by what they show. Days: -2 to 2. */
export async function storeStory(scene: Pick<Scene, 'query'>): Promise<Readonly<Record<string, StoredTrace>>> {
  let made = 0;
  const traceAt = (at: number, project = 'shop'): StoredTrace => ({ id: traceIdOf(++made), project, at });
  const agent = traceAt(-2 * DAY_MS + 1000);
  await storeSpan(scene, agent, {
    number: 1,
    name: 'agent',
    category: 'agent',
    usage_scope: 'rollup',
    input_tokens: 300,
    output_tokens: 14,
    total_tokens: 314,
    conversation_id: 'c-1',
  });
  await storeSpan(scene, { ...agent, at: agent.at + 5 }, { number: 2, parent: 1, ...call(100, '0.00012345') });
  await storeSpan(
    scene,
    { ...agent, at: agent.at + 9 },
    { number: 3, parent: 1, ...call(200, null), user_id: 'u-1', events: '[{"name": "e", "time_unix_nano": "1"}]' },
  );
  await storeSpan(
    scene,
    { ...agent, at: agent.at + 12 },
    { number: 4, parent: 1, category: 'tool_step', tool_name: 'search', status: 'error', is_error: true },
  );
  await storeLog(scene, agent, { span_id: `\\x${spanIdOf(2)}`, event_name: 'note' });
  // A roll-up of one day, and below it a call of the next day.
  const midnight = traceAt(-DAY_MS - 3);
  await storeSpan(scene, midnight, { number: 5, usage_scope: 'rollup', input_tokens: 50, total_tokens: 50 });
  await storeSpan(scene, { ...midnight, at: -DAY_MS + 4 }, { number: 6, parent: 5, ...call(50, '0.5') });
  // A sum without calls below it counts.
  const sum = traceAt(-DAY_MS + 7000, 'blog');
  await storeSpan(scene, sum, {
    number: 7,
    usage_scope: 'rollup',
    input_tokens: 11,
    output_tokens: 1,
    total_tokens: 12,
    total_cost: '1.25',
  });
  // Two reports of one call, and a log record that repeats it. Another record reports a call of its own.
  const repeated = traceAt(8000);
  await storeSpan(scene, repeated, { number: 8, ...call(70, '0.1', { response_id: 'r-1' }) });
  await storeSpan(
    scene,
    { ...repeated, at: 8010 },
    { number: 9, parent: 8, ...call(71, '0.2', { response_id: 'r-1' }) },
  );
  await storeLog(scene, repeated, { ...call(71, '0.2', { response_id: 'r-1' }), event_name: 'gen_ai.choice' });
  await storeLog(scene, { ...repeated, at: 8020 }, { ...call(5, '0.3'), event_name: 'api_request' });
  const alone = traceAt(DAY_MS + 500, 'blog');
  await storeLog(scene, alone, { ...call(9, '0.01'), event_name: 'api_request' });
  const adk = traceAt(2 * DAY_MS + 100);
  for (const number of [10, 11])
    await storeSpan(
      scene,
      { ...adk, at: adk.at + number },
      {
        number,
        ...call(30, '0.03'),
        dialect: 'google-adk',
        attributes: '{"gcp.vertex.agent.event_id": "e-1"}',
      },
    );
  for (let index = 0; index < 40; index++) {
    const plain = traceAt(-2 * DAY_MS + index * 9_000_000, index % 3 === 0 ? 'blog' : 'shop');
    await storeSpan(scene, plain, { number: 100 + index, ...(index % 4 === 0 ? call(index, '0.001') : {}) });
  }
  for (const [index, value] of ['1', '-3', '9007199254740993'].entries())
    await storePoint(scene, index * DAY_MS, { value_int: value });
  for (const [index, value] of ['0.1', '1.5e-300', 'NaN', '1e+300'].entries())
    await storePoint(scene, DAY_MS + 1 + index, { value_double: value });
  await storeClaims(scene);
  return { agent, midnight, sum, repeated, alone, adk };
}
