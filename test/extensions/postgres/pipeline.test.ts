// Several statements in one write: each answer reaches its step, and no statement runs after a failure.
import fc from 'fast-check';
import type pg from 'pg';
import t, { type Test } from 'tap';
import {
  byteaArray,
  idArray,
  integerArray,
  textArray,
  timeArray,
} from '../../../src/extensions/postgres/array-parameter.ts';
import { claimedTraces, listed } from '../../support/claimed-traces.ts';
import { prepare, type Row, runPipeline, type Step } from '../../../src/extensions/postgres/wire-pipeline.ts';
import { connectTo } from '../../support/connection.ts';
import { createDatabase } from '../../support/postgres.ts';

async function connect(t: Test): Promise<pg.Client> {
  const { url } = await createDatabase(t);
  const client = await connectTo(t, url);
  await client.query('CREATE TABLE kept (id int4 NOT NULL)');
  return client;
}

const count = async (client: pg.Client): Promise<number> =>
  Number((await client.query('SELECT count(*) AS n FROM kept')).rows[0]?.n);

const insert = (id: number): Step => ({
  statement: { text: 'INSERT INTO kept VALUES ($1)' },
  values: [String(id)],
});

/** Tuples of one int4. */
const tuples = (...ids: readonly number[]): Buffer =>
  Buffer.concat(
    ids.map((id) => {
      const tuple = Buffer.from([0, 1, 0, 0, 0, 4, 0, 0, 0, 0]);
      tuple.writeInt32BE(id, 6);
      return tuple;
    }),
  );

const copy = (chunks: readonly Buffer[], read: Step['read'] = () => undefined): Step => ({
  statement: { text: 'COPY kept FROM STDIN (FORMAT binary)' },
  chunks,
  read,
});

t.test('each step gets its own result, in order, and COPY data is sent between statements', async (t) => {
  const client = await connect(t);
  const seen: (readonly [string, readonly Row[]])[] = [];
  const read: Step['read'] = ({ tag, rows }) => void seen.push([tag, rows]);
  await runPipeline(client, [
    { ...insert(1), read },
    copy([tuples(2, 3), tuples(4)], read),
    { statement: { text: 'SELECT id, NULL FROM kept WHERE id > $1::int4 ORDER BY id' }, values: ['2'], read },
    { statement: { text: 'DELETE FROM kept' }, read },
  ]);
  t.same(seen, [
    ['INSERT 0 1', []],
    ['COPY 3', []],
    [
      'SELECT 2',
      [
        ['3', null],
        ['4', null],
      ],
    ],
    ['DELETE 4', []],
  ]);
});

t.test('no step after a failed one runs, including data, and the connection stays usable', async (t) => {
  const client = await connect(t);
  const refused = new Error('told apart');
  const chunks = Array.from({ length: 50 }, () => Buffer.alloc(100000, tuples(7)));
  const failing: Step = {
    statement: { text: 'SELECT 1 / $1::int4' },
    values: ['0'],
    translate: (error) => ((error as { code?: string }).code === '22012' ? refused : error),
  };
  await t.rejects(runPipeline(client, [insert(1), failing, copy(chunks), insert(2)]), refused);
  t.equal(await count(client), 0, 'the earlier steps are undone too: the pipeline is one transaction by default');
  await t.rejects(runPipeline(client, [{ statement: { text: 'BEGIN' } }, copy([Buffer.from([0, 9])]), failing]), {
    code: '22P04',
  });
  await client.query('ROLLBACK');
  await runPipeline(client, [copy([tuples(1)])]);
  t.equal(await count(client), 1);
});

t.test('a result that a step does not accept fails the pipeline, and the connection stays usable', async (t) => {
  const client = await connect(t);
  const short = new Error('two rows were expected');
  const reading: Step['read'] = ({ tag }) => {
    if (tag !== 'COPY 2') throw short;
  };
  await t.rejects(runPipeline(client, [{ statement: { text: 'BEGIN' } }, copy([tuples(1)], reading)]), short);
  await client.query('ROLLBACK');
  t.equal(await count(client), 0);
});

t.test('a prepared statement exists after a rollback, and one that cannot be prepared rejects', async (t) => {
  const client = await connect(t);
  const statement = { name: 'keep', text: 'INSERT INTO kept VALUES ($1::int4)' };
  await prepare(client, [statement]);
  await t.rejects(runPipeline(client, [{ statement, values: ['x'] }]));
  await runPipeline(client, [{ statement, values: ['1'] }]);
  t.equal(await count(client), 1);
  await t.rejects(prepare(client, [{ name: 'lost', text: 'SELECT FROM lost' }]), { code: '42P01' });
});

t.test('a lost connection fails the pipeline', async (t) => {
  const client = await connect(t);
  client.on('error', () => undefined);
  await t.rejects(runPipeline(client, [{ statement: { text: 'SELECT pg_terminate_backend(pg_backend_pid())' } }]), {
    code: '57P01',
  });
  await t.rejects(runPipeline(client, [insert(1)]));
});

t.test('arrays of any texts, bytes and integers arrive unchanged', async (t) => {
  const client = await connect(t);
  const text = fc.string({ unit: 'grapheme' }).map((value) => value.replaceAll('\0', ''));
  const columns = fc.record({
    texts: fc.array(fc.oneof(text, fc.constantFrom('', 'NULL', '"', '\\', '{}', ',', ' '))),
    bytes: fc.array(fc.uint8Array()),
    integers: fc.array(fc.maxSafeInteger()),
  });
  await fc.assert(
    fc.asyncProperty(columns, async ({ texts, bytes, integers }) => {
      let seen: unknown;
      const hex = bytes.map((value) => Buffer.from(value).toString('hex'));
      await runPipeline(client, [
        {
          statement: {
            text: `SELECT to_json($1::text[]), to_json(ARRAY(SELECT encode(b, 'hex') FROM unnest($2::bytea[]) b)),
              to_json($3::int8[])`,
          },
          values: [textArray(texts), byteaArray(bytes), integerArray(integers)],
          read: ({ rows }) => void (seen = rows[0]?.map((field) => JSON.parse(String(field)))),
        },
      ]);
      t.same(seen, [texts, hex, integers]);
    }),
    { numRuns: 50 },
  );
});

t.test('arrays of ids and times of traces arrive unchanged', async (t) => {
  const client = await connect(t);
  const traceId = fc.uint8Array({ minLength: 16, maxLength: 16 }).map((id) => Buffer.from(id).toString('hex'));
  const time = fc.option(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), { nil: undefined });
  const claims = fc.array(fc.tuple(traceId, time).map(([id, firstNs]) => ({ traceId: id, firstNs })));
  await fc.assert(
    fc.asyncProperty(claims, async (all) => {
      const traces = claimedTraces(
        all.map(({ traceId: id, firstNs }) => ({ traceId: id, ...(firstNs === undefined ? {} : { firstNs }) })),
      );
      const half = Math.floor(traces.count / 2);
      let seen: unknown;
      await runPipeline(client, [
        {
          statement: {
            text: `SELECT to_json(ARRAY(SELECT encode(b, 'hex') FROM unnest($1::bytea[]) b)),
              to_json($2::int8[]::text[]), to_json($3::int8[]::text[])`,
          },
          values: [
            idArray(traces, half, traces.count),
            timeArray(traces, half, traces.count, 'first'),
            timeArray(traces, half, traces.count, 'last'),
          ],
          read: ({ rows }) => void (seen = rows[0]?.map((field) => JSON.parse(String(field)))),
        },
      ]);
      const expected = listed(traces).slice(half);
      const times = expected.map(({ firstNs }) => firstNs?.toString() ?? null);
      t.same(seen, [expected.map(({ traceId: id }) => id), times, times]);
    }),
    { numRuns: 50 },
  );
});
