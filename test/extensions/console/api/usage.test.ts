/** Usage by groups and over time, and the traces with the highest figures. */
import t, { type Test } from 'tap';
import {
  type PostgresReader,
  ReaderFailure,
  type ReaderPool,
} from '../../../../src/component/capabilities/postgres-reader.ts';
import type { TopTraces } from '../../../../src/extensions/console/api/shapes/traces.ts';
import type { Usage } from '../../../../src/extensions/console/api/shapes/usage.ts';
import { listTop } from '../../../../src/extensions/console/api/top.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import { showUsage } from '../../../../src/extensions/console/api/usage.ts';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { Readers } from '../../../../src/extensions/postgres/reader.ts';
import { BASE_NS, hex, logRow, spanRow, startReading, store } from '../../../support/console-reading.ts';
import { Random } from '../../../support/generators-random.ts';

t.setTimeout(300_000);
const reading = await startReading(t);
const HOUR = 3_600_000;
const call = { category: 'model_call', usage_scope: 'own', input_tokens: 10, output_tokens: 1, total_tokens: 11 };

// Every 10 minutes of 4 hours; the model `b` has no price, and every fourth call fails.
await store(
  reading,
  Array.from({ length: 24 }, (_, at) =>
    spanRow({
      ...call,
      trace: at + 1,
      at: (at * HOUR) / 6,
      provider: 'p',
      response_model: at % 3 === 0 ? 'b' : 'a',
      total_cost: at % 3 === 0 ? null : `0.0${at % 9}`,
      user_id: `u-${at % 5}`,
      service_name: 'web',
      latency_ms: at,
      is_error: at % 4 === 0,
      environment: at < 12 ? 'default' : 'staging',
    }),
  ),
);
// The same call again, from a wrapper.
await store(reading, [
  spanRow({ ...call, trace: 1, at: 1, response_id: 'r' }),
  spanRow({ ...call, trace: 1, at: 2, response_id: 'r' }),
]);
await reading.client.query('DELETE FROM sluice.spans WHERE response_id IS NULL AND trace_id = $1', [
  Buffer.from(hex(1, 16).slice(2), 'hex'),
]);

const range = (from: number, to: number) => ({
  from: String(BASE_NS + BigInt(from * HOUR) * 1_000_000n),
  to: String(BASE_NS + BigInt(to * HOUR) * 1_000_000n),
});

t.test('groups, points, totals and the time before', async (t) => {
  const usage: Usage = await reading.ask(showUsage, { query: { ...range(2, 4), interval: '1h' } });
  t.equal(usage.calls_examined, 12);
  t.match(usage.total, { call_count: 12, unpriced_count: 4, error_count: 3, input_tokens: 120, user_count: 5 });
  t.equal(usage.before.call_count, 12);
  t.same(
    usage.series.map(({ key }) => key),
    [
      { provider: 'p', model: 'a' },
      { provider: 'p', model: 'b' },
    ],
  );
  const [first] = usage.series;
  t.match(first, { total: { call_count: 8, unpriced_count: 0 }, before: { call_count: 8 } });
  t.same(
    first?.points.map(([time, { call_count }]) => [time, call_count]),
    [
      [range(2, 3).from, 4],
      [range(3, 4).from, 4],
    ],
  );
  t.equal(usage.series[1]?.total.total_cost, null, 'an unknown cost is not zero');
  t.match(usage.series[1]?.total, { p50_ms: 16.5, unpriced_count: 4 });
});

t.test('a range up to now may be a moment longer than allowed', async (t) => {
  const ago = (ms: number): string => String(BigInt(Date.now() - ms) * 1_000_000n);
  const asking = (ms: number) => ({ query: { by: 'duration', from: ago(ms) } });
  t.same((await reading.ask(listTop, asking(24 * HOUR + 2000))).items, []);
  t.match(await reading.refusal(listTop, asking(25 * HOUR)), {
    code: 'range_invalid',
    message: /at most 1 day apart/u,
  });
});

t.test('any split of a range sums to the range', async (t) => {
  const callsOf = async (from: number, to: number, more = {}) =>
    ((await reading.ask(showUsage, { query: { ...range(from, to), group: 'none', ...more } })) as Usage).total
      .call_count;
  t.equal(await callsOf(0, 4), 24, 'a call that two spans tell counts once');
  t.equal((await callsOf(0, 1)) + (await callsOf(1, 2.5)) + (await callsOf(2.5, 4)), 24);
  t.equal(await callsOf(0, 4, { env: 'staging' }), 12);
  t.equal(await callsOf(0, 4, { q: 'model:a -user:u-1' }), 13);
  t.equal(await callsOf(0, 4, { q: 'unpriced service:web' }), 7);
  for (const group of ['provider', 'user', 'service', 'agent', 'conversation', 'environment']) {
    const usage: Usage = await reading.ask(showUsage, { query: { ...range(0, 4), group } });
    t.equal(
      usage.series.reduce((sum, { total }) => sum + total.call_count, 0),
      24,
      group,
    );
    const points = usage.series.flatMap(({ points }) => points.map(([, { call_count }]) => call_count));
    t.equal(
      points.reduce((sum, count) => sum + count, 0),
      24,
    );
  }
});

t.test('with one free connection the time before is queried after the time', async (t) => {
  const database = new Database().use({ connectionString: reading.url });
  const settings = { url: '', connections: 1, timeoutMs: 60_000, applicationName: 'single' };
  const single = new Readers(database, 'public').open(settings);
  t.teardown(async () => {
    await single.close();
    await database.close();
  });
  let refused = 0;
  /** The first question waits for this lock until the second one is refused. */
  const query: PostgresReader['query'] = async (...asked) => {
    try {
      return await single.query(...asked);
    } catch (error) {
      if (!(error instanceof ReaderFailure) || error.reason !== 'busy') throw error;
      refused += 1;
      await reading.client.query('ROLLBACK');
      throw error;
    }
  };
  const reader: PostgresReader = { views: single.views, query, prepared: query, stream: single.stream.bind(single) };
  const asking = { query: { ...range(2, 4), interval: '1h' } };
  const expected: Usage = await reading.ask(showUsage, asking);
  await reading.client.query('BEGIN; LOCK TABLE sluice.spans IN ACCESS EXCLUSIVE MODE');
  const usage: Usage = await reading.ask(showUsage, { ...asking, reader });
  t.equal(refused, 1);
  t.same({ ...usage, as_of: '' }, { ...expected, as_of: '' });
});

t.test('names that are equal as far as an answer has them are one group', async (t) => {
  const long = 'n'.repeat(1024);
  await store(
    reading,
    ['a', 'b', 'b'].map((end, at) =>
      spanRow({
        ...call,
        trace: 7000 + at,
        project: 'long',
        at,
        provider: `${long}${end}`,
        response_model: end,
        user_id: `${long}${at}`,
      }),
    ),
  );
  const asked = async (group: string): Promise<Usage> =>
    reading.ask(showUsage, { project: 'long', query: { ...range(0, 4), group } });
  const { series, total } = await asked('provider');
  t.match(series, [{ key: { provider: long }, total: { call_count: 3 }, points: [[String, { call_count: 3 }]] }]);
  t.equal(series.length, 1);
  t.equal(total.user_count, 1);
  t.equal((await asked('model')).series.length, 2);
});

/** Traces of half an hour: calls, under roll-ups that count or do not, and records of others. */
async function storeMixed(project: string, firstTrace: number, areRepeated: boolean): Promise<void> {
  const random = new Random(5);
  const spans: object[] = [];
  const logs: object[] = [];
  const minutes = (most: number): number => 60_000 * random.below(most);
  const figures = (): object => ({
    usage_scope: 'own',
    category: 'model_call',
    provider: random.pick(['p', 'q', null]),
    response_model: random.pick(['a', 'b', 'c', null]),
    user_id: random.pick(['u', 'v', 'w', null]),
    input_tokens: random.below(100),
    total_tokens: random.below(100),
    total_cost: random.pick([null, '0.10000000', '0.25000000']),
    latency_ms: random.pick([null, random.below(1000)]),
    time_to_first_token_ms: random.pick([null, random.below(100)]),
    is_error: random.once(5),
  });
  for (let trace = firstTrace; trace < firstTrace + 80; trace++) {
    const begin = minutes(360);
    const common = { trace, project };
    const parent = hex(8_000_000 + trace, 8);
    spans.push(
      spanRow({ ...common, ...figures(), at: begin, span_id: parent, usage_scope: random.pick(['rollup', null]) }),
    );
    for (let calls = random.below(5); calls > 0; calls--) {
      const response = random.pick([null, `answer ${trace} ${calls}`]);
      const more = { response_id: response, parent_span_id: random.pick([parent, null]) };
      const at = begin + minutes(15);
      spans.push(spanRow({ ...common, ...figures(), ...more, at }));
      if (areRepeated && random.once(2))
        spans.push(spanRow({ ...common, ...figures(), ...more, at: at + minutes(15) }));
      const time = BASE_NS + BigInt(begin + minutes(30)) * 1_000_000n;
      if (random.once(2))
        logs.push(logRow({ ...figures(), project, response_id: response, time_unix_nano: String(time) }));
    }
  }
  await store(reading, spans);
  await reading.insert('logs', logs);
}

/** The figures of these groups, as text. */
async function figuresOf(
  project: string,
  keys: readonly string[],
  { from, to }: ReturnType<typeof range>,
): Promise<readonly unknown[]> {
  const { rows } = await reading.client.query(
    `SELECT json_build_object(${keys.map((key) => `'${key}', ${key}`).join(', ')})::text AS key, count(*)::int AS call_count,
       count(*) FILTER (WHERE total_cost IS NULL)::int AS unpriced_count, count(*) FILTER (WHERE is_error)::int AS error_count,
       sum(input_tokens)::int AS input_tokens, sum(total_cost)::text AS total_cost,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY latency_ms) AS p50_ms, percentile_cont(0.95) WITHIN GROUP (ORDER BY latency_ms) AS p95_ms,
       percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_first_token_ms) AS ttft_ms, count(DISTINCT user_id)::int AS user_count
     FROM counted_usage_between($3, $1, $2) GROUP BY GROUPING SETS ((${keys.join(', ')})) ORDER BY 1`,
    [from, to, project],
  );
  return rows;
}

t.test('the figures are those of `counted_usage_between`', async (t) => {
  await storeMixed('mixed', 5000, true);
  await checkFigures(t, 'mixed');
});

t.test('the figures are those of `counted_usage_between` without repeated calls too', async (t) => {
  await storeMixed('once', 5100, false);
  await checkFigures(t, 'once');
});

async function checkFigures(t: Test, project: string): Promise<void> {
  for (const [from, to] of [
    [0, 7],
    [2, 4],
    [1.125, 1.375],
    [3, 3.75],
    [20, 24],
  ] as const) {
    const query = range(from, to);
    const { total }: Usage = await reading.ask(showUsage, { project, query: { ...query, group: 'none' } });
    t.match({ ...total, key: '{}' }, (await figuresOf(project, [], query))[0] ?? {}, `total of ${from} to ${to}`);
    for (const [group, keys] of [
      ['model', ['provider', 'model']],
      ['service', ['service_name']],
    ] as const) {
      const usage: Usage = await reading.ask(showUsage, {
        project,
        query: { ...query, group, interval: '30m' },
      });
      const expected = await figuresOf(project, keys, query);
      t.equal(usage.series.length, expected.length);
      t.match(usage.total, total);
      for (const { key, total: figures, points } of usage.series) {
        const text = JSON.stringify(key);
        const { user_count: _, ...same } = expected.find(
          (row) => JSON.stringify(JSON.parse((row as { key: string }).key)) === text,
        ) as Record<string, unknown>;
        t.match({ ...figures, key: text }, { ...same, key: text }, `${group} ${text} of ${from} to ${to}`);
        t.equal(
          points.reduce((sum, [, { call_count }]) => sum + call_count, 0),
          figures.call_count,
        );
      }
    }
  }
  const last: Usage = await reading.ask(showUsage, {
    project,
    query: { from: '9223372036000000000', to: '9223372036854775807' },
  });
  t.equal(last.total.call_count, 0, 'the last second that a column can hold');
}

t.test('calls are sorted only in a project where one is repeated', async (t) => {
  const { reader } = reading;
  const asked: string[] = [];
  const query: PostgresReader['query'] = (text, values, signal) => {
    asked.push(text.includes('DISTINCT ON') ? 'sorted' : 'unsorted');
    return reader.query(text, values, signal);
  };
  // The state of a console belongs to the reader of the test, so a new one has not seen a repetition.
  const counting: ReaderPool = {
    views: reader.views,
    query,
    prepared: reader.prepared.bind(reader),
    stream: reader.stream.bind(reader),
    close: async () => undefined,
  };
  const project = 'repeated';
  const usage = async (from: number, to: number, more = {}): Promise<Usage> => {
    asked.length = 0;
    return reading.ask(showUsage, {
      project,
      reader: counting,
      people: counting,
      query: { ...range(from, to), group: 'none', ...more },
    });
  };
  const twice = [HOUR * 10 - 60_000, HOUR * 10].map((at, index) => ({
    ...{ ...call, trace: 7100, project, at, response_id: 'twice' },
    ...{ input_tokens: 100 + index, total_tokens: 100 + index },
  }));
  await store(reading, [
    spanRow({ ...call, trace: 7101, project, at: HOUR * 5 }),
    ...twice.map((columns) => spanRow(columns)),
  ]);
  t.match((await usage(4, 6)).total, { call_count: 1, input_tokens: 10 });
  t.same(asked, ['unsorted', 'unsorted']);
  const { total, before } = await usage(10, 11);
  t.match(
    [total, before],
    [{ call_count: 1, input_tokens: 101 }, { call_count: 0 }],
    'the repetition is before the range',
  );
  t.ok(asked.includes('unsorted'));
  t.ok(asked.includes('sorted'));
  t.match((await usage(4, 6)).total, { call_count: 1, input_tokens: 10 });
  t.same(asked, ['sorted', 'sorted']);
});

t.test('beyond a hundred groups the others are added up', async (t) => {
  await store(
    reading,
    Array.from({ length: 130 }, (_, at) =>
      spanRow({ ...call, trace: 1000 + at, project: 'many', at, user_id: `u-${at}`, total_cost: String(at / 100) }),
    ),
  );
  const usage: Usage = await reading.ask(showUsage, { project: 'many', query: { ...range(0, 1), group: 'user' } });
  t.equal(usage.series.length, 101);
  const rest = usage.series.at(-1);
  t.match(rest, { key: { other: true }, total: { call_count: 30, total_cost: '4.35000000' } });
  t.equal(
    rest?.points.reduce((sum, [, { call_count }]) => sum + call_count, 0),
    30,
  );
});

t.test('a call belongs to the nearest user, agent and conversation above it', async (t) => {
  const agent = { category: 'agent', user_id: 'ada', agent_name: 'clerk', conversation_id: 'c' };
  const id = (at: number): string => hex(9_000_000 + at, 8);
  const step = (at: number, parent: number, more = {}) =>
    spanRow({ trace: 2000, project: 'owners', at, span_id: id(at), parent_span_id: id(parent), ...more });
  await store(reading, [
    step(2, 1, { ...call, response_model: 'a' }),
    step(1, 0),
    spanRow({ trace: 2000, project: 'owners', at: 0, span_id: id(0), ...agent }),
    step(3, 0, { ...agent, user_id: 'bob', agent_name: 'cook' }),
    step(4, 3, { ...call, response_model: 'b' }),
  ]);
  const usageBy = async (group: string, q = ''): Promise<unknown> => {
    const { series } = (await reading.ask(showUsage, {
      project: 'owners',
      query: { ...range(0, 1), group, q },
    })) as Usage;
    return series.map(({ key, total }) => [...Object.values(key), total.call_count]);
  };
  t.same(await usageBy('user'), [
    ['ada', 1],
    ['bob', 1],
  ]);
  t.same(await usageBy('agent'), [
    ['clerk', 1],
    ['cook', 1],
  ]);
  t.same(await usageBy('conversation'), [['c', 2]]);
  t.same(await usageBy('none', 'user:bob agent:cook model:b'), [[1]]);
  t.same(await usageBy('none', 'user:bob model:a'), [[0]]);
  const found = async (q: string): Promise<number> =>
    (await reading.ask(listTraces, { project: 'owners', query: { q } })).items.length;
  t.equal(await found('user:ada model:a'), 1, 'other terms are met by the call, the user by a span above it');
  t.equal(await found('user:bob model:a'), 0);
  t.equal(await found('user:bob -model:a category:model_call conversation:c'), 1);
  t.equal(await found('user:bob'), 1);
});

t.test('the traces with the highest figures', async (t) => {
  const top = async (by: string, limit = 3): Promise<TopTraces> =>
    reading.ask(listTop, { query: { ...range(0, 4), by, limit } });
  t.same(
    (await top('cost')).items.map(({ total_cost }) => total_cost),
    ['0.08000000', '0.08000000', '0.07000000'],
  );
  t.equal((await top('tokens', 100)).items.length, 24);
  t.equal((await top('duration')).items[0]?.trace_id, hex(1, 16).slice(2));
  t.ok((await top('errors', 100)).items.every(({ error_count }) => error_count > 0));
});

t.test('the traces with the highest figures begin in the range, and all of each counts', async (t) => {
  const call = { project: 'top', category: 'model_call', usage_scope: 'own', status: 'error' };
  const cost = (amount: number) => ({ total_cost: String(amount), total_tokens: amount });
  await store(reading, [
    // Begins before the range, with lower figures in it than the other two.
    spanRow({ ...call, ...cost(9), trace: 901, at: -60_000 }),
    spanRow({ ...call, ...cost(1), trace: 901, at: 1000 }),
    // Has most of its figures after the range.
    spanRow({ ...call, ...cost(1), trace: 902, at: 2000 }),
    spanRow({ ...call, ...cost(5), trace: 902, at: 3_700_000 }),
    spanRow({ ...call, ...cost(2), trace: 902, at: 3_800_000 }),
    spanRow({ ...call, ...cost(3), trace: 903, at: 4000 }),
    spanRow({ ...call, ...cost(1), trace: 903, at: 5000 }),
  ]);
  const query = { from: String(BASE_NS), to: String(BASE_NS + 3_600_000_000_000n) };
  for (const by of ['cost', 'tokens', 'duration', 'errors']) {
    const { items }: TopTraces = await reading.ask(listTop, { project: 'top', query: { ...query, by } });
    t.same(
      items.map(({ trace_id }) => trace_id),
      [902, 903].map((trace) => hex(trace, 16).slice(2)),
      by,
    );
  }
});

t.test('a wrong interval, range or filter is refused', async (t) => {
  const code = async (query: Record<string, string>) => (await reading.refusal(showUsage, { query }))?.code;
  t.equal(await code({ ...range(0, 4), interval: '1s' }), 'range_invalid');
  for (const interval of ['0s', '1w', '-1h', 'x']) {
    const refusal = await reading.refusal(showUsage, { query: { ...range(0, 4), interval } });
    t.match(refusal, { code: 'range_invalid', message: '`interval` is no length of time.' }, interval);
  }
  t.equal(await code({ ...range(0, 4), interval: '999999999d' }), 'range_invalid', 'more than 64 bits');
  t.equal(await code({ from: '2026-02-30T00:00:00Z', to: '2026-03-04T00:00:00Z' }), 'range_invalid');
  t.equal((await reading.ask(showUsage, { query: { to: '5' } })).from, '0', 'the range begins not before 1970');
  t.match((await reading.refusal(showUsage, { query: { from: '0', to: 'now' } }))?.message, /`from` and `to`/u);
  t.equal(await code({ from: '0', to: 'now' }), 'range_invalid');
  t.equal(await code({ ...range(0, 4), q: 'duration:>1s' }), 'filter_invalid');
  t.equal(await code({ group: 'hash' }), 'request_invalid');
  t.equal((await reading.refusal(listTop, { query: { ...range(0, 48), by: 'errors' } }))?.code, 'range_invalid');
});
