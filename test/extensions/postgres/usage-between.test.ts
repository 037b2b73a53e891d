// Usage by time: the function has the rows of the view, for random traces whose repetitions lie within an hour.
import type pg from 'pg';
import t from 'tap';
import { Random } from '../../support/generators-random.ts';
import { openMigrated } from '../../support/migrated.ts';
import type { Teardown } from '../../support/postgres.ts';
import { hexId } from '../../support/random-trees.ts';

t.setTimeout(300_000);

const TRACES = 150;
const WINDOWS = 25;
const TRACE_SETS = 6;
const HOUR = 3_600_000_000_000n;
const DAY = 24n * HOUR;
const START = (BigInt(Date.now()) / 86_400_000n - 2n) * DAY;
const SEED = 71;

interface Stored {
  readonly kind: 'span' | 'log';
  readonly project: string;
  readonly trace: string | null;
  readonly span: string | null;
  readonly parent: string | null;
  readonly time: string;
  readonly scope: 'own' | 'rollup' | null;
  readonly response: string | null;
  readonly dialect: string;
  readonly tokens: number | null;
  readonly model: string;
}

/** Spans of a trace lie within some hours. Reports of one call lie within half an hour. */
function randomRecords(random: Random): readonly Stored[] {
  const records: Stored[] = [];
  const within = (hours: number): bigint => (BigInt(hours) * HOUR * BigInt(random.below(10_000))) / 10_000n;
  let ids = 0;
  for (let trace = 1; trace <= TRACES; trace++) {
    const project = trace % 3 === 0 ? 'other' : 'demo';
    const begin = START + within(44);
    const dialect = random.below(5) === 0 ? 'codex' : 'otel-genai';
    const spans = Array.from({ length: 1 + random.below(8) }, () => hexId(++ids, 16));
    for (const [at, span] of spans.entries()) {
      const parent = at === 0 || random.below(6) === 0 ? null : (spans[random.below(at)] ?? null);
      const scope = ([null, 'own', 'own', 'rollup'] as const)[random.below(4)] ?? null;
      const time = begin + within(4);
      const response = random.below(3) === 0 ? `answer ${span}` : null;
      const common = { project, trace: hexId(trace, 32), dialect, model: `m${random.below(3)}` };
      const tokens = random.below(10) === 0 ? null : random.below(50);
      records.push({
        kind: 'span',
        ...common,
        span,
        parent,
        scope,
        response,
        time: String(time),
        tokens: scope === null ? null : tokens,
      });
      for (let repeats = random.below(4) - 1; repeats > 0; repeats--) {
        const isSpan = random.below(3) === 0;
        records.push({
          kind: isSpan ? 'span' : 'log',
          ...common,
          trace: isSpan
            ? common.trace
            : ([common.trace, hexId(100_000 + random.below(99), 32), null][random.below(3)] ?? null),
          span: isSpan ? hexId(++ids, 16) : ([span, null][random.below(2)] ?? null),
          parent: isSpan ? parent : null,
          scope: 'own',
          response: random.below(4) === 0 ? null : (response ?? `told ${span}`),
          time: String(time + within(1) / 2n),
          tokens: random.below(50),
        });
      }
    }
  }
  return records;
}

const COMMON =
  'project, environment, usage_scope, response_id, dialect, input_tokens, total_tokens, total_cost, response_model, received_at, attributes';
const columns = `project, 'default', scope, response, dialect, tokens, tokens, tokens * 0.001, model, now(), '{}',
  decode(trace, 'hex'), decode(span, 'hex')`;
const STORE = [
  `INSERT INTO sluice.spans (${COMMON}, trace_id, span_id, parent_span_id, start_time_unix_nano, category, name)
   SELECT ${columns}, decode(parent, 'hex'), time, CASE WHEN scope = 'own' THEN 'model_call' END, 'span'
   FROM jsonb_to_recordset($1) AS r (kind text, project text, trace text, span text, parent text, time int8, scope text, response text,
     dialect text, tokens int8, model text) WHERE kind = 'span'`,
  `INSERT INTO sluice.logs (${COMMON}, trace_id, span_id, time_unix_nano)
   SELECT ${columns}, time FROM jsonb_to_recordset($1) AS r (kind text, project text, trace text, span text, time int8, scope text,
     response text, dialect text, tokens int8, model text) WHERE kind = 'log'`,
];

async function scene(t: Teardown): Promise<pg.Client> {
  const client = await (await openMigrated(t)).connect();
  const days = [0n, 1n, 2n].map(
    (day) =>
      `CREATE TABLE sluice.spans_day_${day} PARTITION OF sluice.spans FOR VALUES FROM (${START + day * DAY}) TO (${START + (day + 1n) * DAY})`,
  );
  await client.query(days.join(';'));
  return client;
}

const VIEW =
  'SELECT * FROM counted_usage WHERE ($1::text IS NULL OR project = $1) AND time_unix_nano >= $2 AND time_unix_nano < $3';
const FUNCTION = 'SELECT * FROM counted_usage_between($1, $2, $3)';
const MOST = '9223372036854775807';
const LEAST = '-9223372036854775808';

t.test('usage by time', async (t) => {
  const client = await scene(t);
  const random = new Random(SEED);
  const records = randomRecords(random);
  for (const statement of STORE) await client.query(statement, [JSON.stringify(records)]);
  await client.query('ANALYZE');
  const ask = async (text: string, values: readonly unknown[]) => (await client.query(text, [...values])).rows;
  const difference = (one: string, other: string): string => `(${one}) EXCEPT ALL (${other})`;

  await t.test('the function has the rows of the view, for any window', async (t) => {
    const windows = Array.from({ length: WINDOWS }, () => {
      const from = START - HOUR + (50n * HOUR * BigInt(random.below(1000))) / 1000n;
      return [from, from + (6n * HOUR * BigInt(random.below(1000))) / 1000n].map(String);
    });
    for (const [from, until] of [...windows, [LEAST, MOST], [String(START), String(START + DAY)]]) {
      for (const project of ['demo', null]) {
        const values = [project, from, until];
        t.strictSame(await ask(difference(VIEW, FUNCTION), values), [], `the function lacks rows of ${values}`);
        t.strictSame(await ask(difference(FUNCTION, VIEW), values), [], `the function has more rows than ${values}`);
      }
    }
    const [all] = await ask(
      `SELECT count(*)::int AS rows, count(DISTINCT signal)::int AS signals FROM (${FUNCTION}) f`,
      [null, LEAST, MOST],
    );
    t.ok(all?.rows > 2 * TRACES && all?.signals === 2, 'there was something to compare');
  });

  await t.test('the usage of some traces is that of the view, for any set of traces', async (t) => {
    await client.query(`INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
      SELECT trace_id, project, 'default', min(start_time_unix_nano), max(start_time_unix_nano) FROM sluice.spans GROUP BY 1, 2
      UNION ALL SELECT DISTINCT trace_id, 'demo', 'default', NULL::int8, NULL::int8 FROM sluice.logs l WHERE trace_id IS NOT NULL
        AND NOT EXISTS (SELECT FROM sluice.spans s WHERE s.trace_id = l.trace_id)`);
    const ofView = 'SELECT * FROM trace_usage WHERE project = $1 AND trace_id = ANY ($2::bytea[])';
    const ofFunction = 'SELECT * FROM trace_usage_of($1, $2::bytea[])';
    const traces = (await ask('SELECT trace_id FROM sluice.traces', [])).map(({ trace_id: id }) => id as Buffer);
    const sets = Array.from({ length: TRACE_SETS }, (_, size) => traces.filter(() => random.below(TRACE_SETS) <= size));
    for (const chosen of [...sets, [], traces]) {
      for (const project of ['demo', 'other']) {
        const values = [project, chosen];
        const name = `${chosen.length} traces of ${project}`;
        t.strictSame(await ask(difference(ofView, ofFunction), values), [], `the function lacks rows of ${name}`);
        t.strictSame(await ask(difference(ofFunction, ofView), values), [], `the function has more rows than ${name}`);
      }
    }
    const [all] = await ask(`SELECT count(DISTINCT signal)::int AS signals FROM (${ofFunction}) f`, ['demo', traces]);
    t.equal(all?.signals, 2, 'there was something to compare');
  });

  await t.test('the totals of each trace are the sums of its usage', async (t) => {
    const totals = `project, total_tokens, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, input_cost,
      output_cost, total_cost`;
    const sums = totals.replaceAll(/\w+_(?:tokens|cost)/gu, 'sum($&) AS $&');
    const ofView = `SELECT trace_id, ${totals} FROM public.traces`;
    for (const usage of ['trace_usage', 'counted_usage']) {
      const summed = `SELECT encode(t.trace_id, 'hex') AS trace_id, ${totals} FROM sluice.traces t
        LEFT JOIN (SELECT trace_id, ${sums} FROM ${usage} GROUP BY trace_id, project) u USING (trace_id, project)`;
      t.strictSame(await ask(difference(ofView, summed), []), [], `not in ${usage}`);
      t.strictSame(await ask(difference(summed, ofView), []), [], `only in ${usage}`);
    }
    const [all] = await ask('SELECT count(total_tokens)::int AS counted FROM public.traces', []);
    t.ok(all?.counted > TRACES / 2, 'there was something to compare');
  });

  await t.test('windows that divide a day have its sum', async (t) => {
    const sum = async (from: bigint, until: bigint): Promise<number> => {
      const [row] = await ask(
        `SELECT coalesce(sum(total_tokens), 0)::int AS sum FROM (${FUNCTION}) f`,
        ['demo', from, until].map(String),
      );
      return row?.sum;
    };
    const bounds = Array.from({ length: 12 }, () => (DAY * BigInt(random.below(10_000))) / 10_000n).sort((a, b) =>
      Number(a - b),
    );
    const edges = [0n, ...bounds, DAY].map((offset) => START + offset);
    let parts = 0;
    for (const [at, from] of edges.slice(0, -1).entries()) parts += await sum(from, edges[at + 1] ?? from);
    t.ok(parts > 0);
    t.equal(parts, await sum(START, START + DAY));
  });

  await t.test('usage by the day equals the daily view, and hours sum to it', async (t) => {
    const range = `to_timestamp(${START / 1_000_000_000n}), to_timestamp(${(START + 3n * DAY) / 1_000_000_000n})`;
    const figures = 'project, environment, provider, model, sum(call_count), sum(total_tokens), sum(unpriced_count)';
    const daily = `SELECT day, ${figures} FROM usage_daily GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`;
    const expected = await ask(daily, []);
    t.ok(expected.length > 4);
    for (const step of ['1 day', '1 hour']) {
      const between = `SELECT (time AT TIME ZONE 'UTC')::date AS day, ${figures} FROM usage_between(NULL, ${range}, '${step}')
        GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5`;
      t.strictSame(await ask(between, []), expected, step);
    }
  });

  await t.test('only roles with EXECUTE may call the functions, and need no other right', async (t) => {
    const role = `reader_${Date.now()}`;
    await client.query(`CREATE ROLE ${role}`);
    try {
      const call = async (text: string): Promise<string> => {
        await client.query(`SET ROLE ${role}`);
        try {
          return String((await client.query(text)).rowCount);
        } catch (error) {
          return (error as Error).message;
        } finally {
          await client.query('RESET ROLE');
        }
      };
      const calls = `SELECT FROM counted_usage_between('demo', 0, ${MOST})`;
      const hours = "SELECT FROM usage_between('demo', '2020-01-01Z', now(), '1 day')";
      t.match(await call(calls), /permission denied for function counted_usage_between/);
      t.match(await call(hours), /permission denied for function usage_between/);
      t.match(await call("SELECT FROM trace_usage_of('demo', '{}')"), /permission denied for function trace_usage_of/);
      await client.query(`GRANT EXECUTE ON FUNCTION counted_usage_between, usage_between TO ${role}`);
      t.match(await call(calls), /^\d+$/);
      t.match(await call(hours), /^\d+$/);
      t.match(await call('SELECT FROM sluice.spans'), /permission denied/);
    } finally {
      await client.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
    }
  });
});
