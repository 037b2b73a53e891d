/** Backs up, restores and moves many spans while more arrive, and compares what has arrived with the answers. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { withClient } from '../../support/table-contents.ts';

t.setTimeout(7_200_000);

const STORED = Number(process.argv[2] ?? 1_000_000);
const SPANS_OF_TRACE = 10;
/** Each request has a trace of its own: 500 spans in a second. */
const SPANS_OF_REQUEST = 50;
const EVERY_MS = 100;
/** The sender makes no new request while so many are not answered. */
const MOST_WAITING = 100;
/** The requests that a backup has in any case. */
const FIRST_REQUESTS = 20;
const RETRY_MS = 200;
const LOOK_MS = 100;
const TEXT = 'the weather of the next days, in one sentence for each of them. '.repeat(8);
const CLOCK_TICKS = 100;

const source = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
const folder = openFolder(t);
writeFileSync(join(folder, 'source.yaml'), postgresConfig({ databaseUrl: source.databaseUrl }));

/** The numbers of the requests that were answered 200. */
const acknowledged: number[] = [];
let begun = 0;
let url = source.url;
let isOver = false;

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

function bodyOf(request: number): string {
  const start = BigInt(Date.now()) * 1_000_000n;
  const spans = Array.from({ length: SPANS_OF_REQUEST }, (_, at) =>
    aSpan({ traceId: hex(request, 32), spanId: hex(request * SPANS_OF_REQUEST + at + 1, 16), name: 'arrived', start }),
  );
  return JSON.stringify(aTraceRequest(spans));
}

async function sendUntilStored(request: number): Promise<void> {
  for (const body = bodyOf(request); ; await pause(RETRY_MS)) {
    const status = await send(url, { body }).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) break;
    if (status !== 0 && status !== 503) throw new Error(`a request was answered ${status}`);
  }
  acknowledged.push(request);
}

async function keepSending(): Promise<void> {
  const waiting = new Set<Promise<void>>();
  while (!isOver) {
    if (waiting.size < MOST_WAITING) {
      const sending = sendUntilStored(++begun).finally(() => waiting.delete(sending));
      waiting.add(sending);
    }
    await pause(EVERY_MS);
  }
  await Promise.all(waiting);
}

/** Copies of one stored model call, in traces of their own. */
async function storeSpans(): Promise<void> {
  const call = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5-mini',
    'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 50,
    'gen_ai.input.messages': TEXT,
  };
  const now = BigInt(Date.now()) * 1_000_000n;
  const body = JSON.stringify(aTraceRequest([aSpan({ name: 'stored', start: now, attributes: call })]));
  t.equal((await send(url, { body })).status, 200);
  const changed: Readonly<Record<string, string>> = {
    trace_id: `decode(lpad(to_hex(1000000000 + g / ${SPANS_OF_TRACE}), 32, 'f'), 'hex')`,
    span_id: "decode(lpad(to_hex(g), 16, 'e'), 'hex')",
    start_time_unix_nano: 's.start_time_unix_nano + g',
    // Not the same for all, so that the backup cannot leave it out.
    input_content: 's.input_content || md5(g::text) || md5((-g)::text)',
  };
  const rest = STORED - 1;
  await withClient(source.databaseUrl, async (client) => {
    const copy = async (table: string, count: number, values: Readonly<Record<string, string>>): Promise<void> => {
      const { rows } = await client.query<{ name: string }>(
        'SELECT quote_ident(attname) AS name FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped',
        [`sluice.${table}`],
      );
      const names = rows.map(({ name }) => name);
      await client.query(
        `INSERT INTO sluice.${table} (${names.join(', ')}) SELECT ${names.map((name) => values[name] ?? `s.${name}`).join(', ')}
         FROM sluice.${table} s, generate_series(0, ${count - 1}) g`,
      );
    };
    await copy('spans', rest, changed);
    await copy('traces', Math.ceil(rest / SPANS_OF_TRACE), {
      trace_id: changed['trace_id']?.replace(`g / ${SPANS_OF_TRACE}`, 'g') ?? '',
      last_ns: `s.last_ns + ${STORED}`,
    });
  });
}

/** Runs a command to its end, and tells what it took. */
async function run(t: Test, ...args: readonly string[]): Promise<number> {
  const began = performance.now();
  const command = startExecutable(args, folder);
  let [peakKib, ticks] = [0, 0];
  let hasEnded = false;
  const ended = command.ended.finally(() => (hasEnded = true));
  while (!hasEnded) {
    const proc = (name: string): string => readFileSync(`/proc/${command.child.pid}/${name}`, 'utf8');
    try {
      peakKib = Number(/VmHWM:\s+(\d+)/u.exec(proc('status'))?.[1] ?? peakKib);
      const fields = proc('stat').split(') ')[1]?.split(' ') ?? [];
      ticks = Number(fields[11]) + Number(fields[12]);
    } catch {
      // It ended between two looks.
    }
    await Promise.race([ended, pause(LOOK_MS)]);
  }
  const seconds = (performance.now() - began) / 1000;
  const name = args[0] ?? '';
  t.comment(
    `${name}: ${seconds.toFixed(1)} s, ${ticks / CLOCK_TICKS} s of processor, at most ${Math.round(peakKib / 1024)} MiB`,
  );
  t.equal(await ended, 0, `${name}: ${command.output.err.split('\n').slice(-3).join(' ')}`);
  return seconds;
}

interface Arrived {
  readonly spans: number;
  readonly requests: readonly number[];
  /** Requests of which only some spans are stored. */
  readonly halves: number;
  /** The number of all other spans. */
  readonly stored: number;
  readonly checksum: string;
}

async function arrivedIn(databaseUrl: string): Promise<Arrived> {
  return withClient(databaseUrl, async (client) => {
    await client.query('SET extra_float_digits = 3');
    const { rows: traces } = await client.query<{ request: number; spans: number }>(
      `SELECT ('x' || right(encode(trace_id, 'hex'), 8))::bit(32)::int AS request, count(DISTINCT span_id)::int AS spans
       FROM sluice.spans WHERE name = 'arrived' GROUP BY 1`,
    );
    const { rows } = await client.query<{ spans: number; stored: number; checksum: string }>(
      `SELECT count(*) FILTER (WHERE name = 'arrived')::int AS spans, count(*) FILTER (WHERE name = 'stored')::int AS stored,
         sum(hashtextextended(s::text, 0)::numeric) FILTER (WHERE name = 'stored')::text AS checksum FROM sluice.spans s`,
    );
    const { spans = 0, stored = 0, checksum = '' } = rows[0] ?? {};
    const halves = traces.filter((trace) => trace.spans !== SPANS_OF_REQUEST).length;
    return { spans, stored, checksum, halves, requests: traces.map(({ request }) => request) };
  });
}

function compare(
  t: Test,
  arrived: Arrived,
  { wanted, checksum }: { wanted: readonly number[]; checksum: string },
): void {
  const found = new Set(arrived.requests);
  t.same(
    wanted.filter((request) => !found.has(request)).slice(0, 3),
    [],
    `each of ${wanted.length} acknowledged requests arrived`,
  );
  t.equal(arrived.halves, 0, 'no request arrived in part');
  t.equal(arrived.spans, found.size * SPANS_OF_REQUEST, 'no span arrived twice');
  t.equal(arrived.stored, STORED);
  t.equal(arrived.checksum, checksum, 'the stored spans are equal');
}

t.test(`${STORED} spans while ${(SPANS_OF_REQUEST * 1000) / EVERY_MS} arrive in each second`, async (t) => {
  await storeSpans();
  const { checksum } = await arrivedIn(source.databaseUrl);
  const sending = keepSending();
  while (acknowledged.length < FIRST_REQUESTS) await pause(EVERY_MS);
  const before = [...acknowledged];
  const backupS = await run(t, 'backup', 'all.backup', '-c', 'source.yaml');
  const during = acknowledged.length - before.length;
  t.comment(
    `${during * SPANS_OF_REQUEST} spans were stored during the backup, ${Math.round((during * SPANS_OF_REQUEST) / backupS)}/s`,
  );
  t.comment(`the file has ${(statSync(join(folder, 'all.backup')).size / 2 ** 20).toFixed(1)} MiB`);
  const restored = await createDatabase(t);
  writeFileSync(join(folder, 'restored.yaml'), postgresConfig({ databaseUrl: restored.url }));
  await run(t, 'restore', 'all.backup', '-c', 'restored.yaml');
  compare(t, await arrivedIn(restored.url), { wanted: before, checksum });

  await source.stop();
  const target = await createDatabase(t);
  await run(t, 'move', '--to', target.url, '-c', 'source.yaml');
  const moved = await startPostgresDaemon(t, {
    databaseUrl: target.url,
    processors: 'auth, environment, normalization',
  });
  url = moved.url;
  isOver = true;
  await sending;
  t.comment(`${acknowledged.length * SPANS_OF_REQUEST} spans were answered 200`);
  t.equal(acknowledged.length, begun, 'every request was stored in the end');
  const arrived = await arrivedIn(target.url);
  compare(t, arrived, { wanted: acknowledged, checksum });
  t.equal(arrived.requests.length, acknowledged.length, 'nothing else arrived');
});
