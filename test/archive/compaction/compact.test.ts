/**
 * Compaction of what a daemon stored in objects, against a real database and a folder: every value that was sent is
 * read back, each record is in exactly one file whatever step a run is interrupted at, and nothing is published that
 * was not accepted or that was erased.
 */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type Session, STEPS } from '../../../src/archive/archive-day.ts';
import { removeOrphans } from '../../../src/exporters/objects/orphans.ts';
import { Duck } from '../../../src/archive/duckdb.ts';
import { requestErasure } from '../../../src/extensions/postgres/removal/archived.ts';
import { FolderStore } from '../../../src/object-store/folder-store.ts';
import { linesOfLake, linesOfView, sessionOf, withPlainJson } from '../../support/archive-scene.ts';
import { sluice } from '../../support/command-line.ts';
import { type CompactionScene, startCompaction } from '../../support/compaction-scene.ts';
import { OTHER_KEY } from '../../support/daemon.ts';
import { isLong, longTest } from '../../support/long.ts';
import { addParts } from '../../support/many-parts.ts';
import { requests } from '../../support/generators.ts';
import { send } from '../../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { encodeProtobuf, loadProtos, SIGNALS } from '../../support/protos.ts';
import { DAY_NS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const PATHS = ['/v1/traces', '/v1/logs', '/v1/metrics'];
const TABLES = ['spans', 'logs', 'metric_points'];
/** Requests of each signal with random values. */
const SAMPLES = isLong ? 60 : 30;

const sendSpans = async ({ url }: CompactionScene, spans: readonly object[], key?: string): Promise<void> => {
  const body = JSON.stringify(aTraceRequest(spans));
  const { status } = await send(url, key === undefined ? { body } : { body, authorization: `Bearer ${key}` });
  if (status !== 200) throw new Error(`a request was answered ${status}`);
};

const namesInLake = async ({ duck, lake }: CompactionScene): Promise<readonly string[]> =>
  (await duck.rows(`SELECT name FROM read_parquet('${lake}/lake/spans/*/*.parquet') ORDER BY name`)).map(({ name }) =>
    String(name),
  );

/** Each record of the tables is in the lake exactly once with equal values, and no other is. */
async function requireEqual(t: Test, scene: CompactionScene): Promise<void> {
  for (const table of TABLES) {
    const view = await withPlainJson(scene, await linesOfView(scene, table));
    if (view.length === 0) continue;
    const lake = await withPlainJson(scene, await linesOfLake(scene, table));
    const at = lake.findIndex((line, index) => line !== view[index]);
    t.equal(lake.length, view.length, `${table}: ${view.length} records`);
    if (at >= 0) t.same(JSON.parse(lake[at] ?? ''), JSON.parse(view[at] ?? ''), `${table}: the values`);
  }
}

t.test('every value that was sent is read back from the files', async (t) => {
  const scene = await startCompaction(t, 'postgres, objects', 'auth, environment, normalization');
  const protos = loadProtos();
  let accepted = 0;
  for (const signal of SIGNALS)
    for (const message of fc.sample(requests(signal), { numRuns: SAMPLES, seed: 5 })) {
      const headers = { 'content-type': 'application/x-protobuf' };
      const body = encodeProtobuf(protos.requests[signal], message);
      if ((await send(scene.url, { path: PATHS[signal] as string, headers, body })).status === 200) accepted++;
    }
  await sendSpans(scene, [
    aSpan({
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 12, 'gen_ai.usage.cost': 0.0125 },
    }),
  ]);
  t.ok(accepted > SAMPLES, `${accepted} requests were accepted`);
  const files = await scene.run();
  t.same([...new Set(files.map(({ signal }) => signal))], TABLES);
  t.same(scene.files(), files.map(({ key }) => key).sort());
  await requireEqual(t, scene);
  t.same(await scene.run(), [], 'nothing is published twice');
  t.match(await sluice(['archive', '--to', scene.lake], { folder: scene.commands }), {
    code: 1,
    err: /records of its objects/u,
  });
});

t.test('a file is of the day its spans began, and has no row of requests that were refused or repeated', async (t) => {
  const scene = await startCompaction(t);
  const traceId = newTraceId();
  const start = BigInt(Date.now()) * 1_000_000n;
  const body = [aSpan({ name: 'first', traceId, start }), aSpan({ name: 'old', traceId, start: start - 2n * DAY_NS })];
  await sendSpans(scene, body);
  await sendSpans(scene, body);
  const conflict = JSON.stringify(aTraceRequest([aSpan({ name: 'conflict', traceId })]));
  t.equal((await send(scene.url, { body: conflict, authorization: `Bearer ${OTHER_KEY}` })).status, 409);
  const files = await scene.run();
  t.same(
    files.map(({ day }) => day),
    [start - 2n * DAY_NS, start].map((ns) => new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 10)),
  );
  t.same(await namesInLake(scene), ['first', 'old']);
});

longTest('a span that is sent again in other bytes is published once, also by a later run', async (t) => {
  const scene = await startCompaction(t);
  const again = aSpan({ name: 'again' });
  await sendSpans(scene, [again]);
  await sendSpans(scene, [again, aSpan({ name: 'b' })]);
  await scene.run();
  await sendSpans(scene, [again, aSpan({ name: 'c' })]);
  await sendSpans(scene, [again]).catch(() => undefined);
  await scene.run();
  t.same(await namesInLake(scene), ['again', 'b', 'c']);
  await requireEqual(t, scene);
  const body = { timeUnixNano: '5', body: { stringValue: 'equal' } };
  for (const records of [[body, body], [body]])
    t.equal((await send(scene.url, { path: '/v1/logs', body: JSON.stringify(aLogRequest(records)) })).status, 200);
  await scene.run();
  t.equal((await linesOfLake(scene, 'logs')).length, 3, 'equal log records are records of their own');
});

longTest('a run that fails at any step is repeated under the same keys', async (t) => {
  const scene = await startCompaction(t);
  const start = BigInt(Date.now()) * 1_000_000n;
  for (const step of STEPS.filter((each) => each !== 'seal')) {
    for (const day of [0n, 1n])
      await sendSpans(scene, [aSpan({ name: `${step} ${day}`, start: start - day * DAY_NS })]);
    // At the first file, and at the second one.
    for (const nth of [1, 2]) {
      let left = nth;
      const report = (reported: string): void => {
        if (reported === step && --left === 0) throw new Error('interrupted');
      };
      const { rows: before } = await scene.client.query('SELECT id FROM sluice.lake_jobs ORDER BY id');
      await scene.run({ report }).catch(() => undefined);
      const { rows: after } = await scene.client.query('SELECT id FROM sluice.lake_jobs ORDER BY id');
      t.same(after.slice(0, before.length), before, `${step}: the same jobs`);
      const names = await namesInLake(scene).catch(() => []);
      t.equal(new Set(names).size, names.length, `${step}: no record is twice in the lake`);
    }
    await sendSpans(scene, [aSpan({ name: `${step} later` })]);
    await scene.run();
    await requireEqual(t, scene);
  }
  t.same((await scene.client.query("SELECT FROM sluice.lake_jobs WHERE state <> 'published'")).rows, []);
});

longTest('parts and objects are removed a day after their publication, and not before', async (t) => {
  const scene = await startCompaction(t);
  await sendSpans(scene, [aSpan()]);
  await scene.run();
  const store = new FolderStore(scene.lake);
  const sweep = () =>
    removeOrphans({ store, database: scene.client }, { orphanMs: 0, signal: new AbortController().signal });
  t.equal(await sweep(), 0);
  t.equal(scene.files('objects').length, 1, 'it is named until then');
  await scene.client.query("UPDATE sluice.compactions SET published_at = published_at - interval '25 hours'");
  await sendSpans(scene, [aSpan({ name: 'new' })]);
  await scene.run({ olderThanMs: 3_600_000 });
  t.same((await scene.client.query('SELECT compaction FROM sluice.parts')).rows, [{ compaction: null }]);
  t.same((await scene.client.query('SELECT FROM sluice.compactions')).rows, []);
  t.equal(scene.files('objects').length, 2, 'the command removes no object');
  t.equal(await sweep(), 1);
  await scene.run();
  await requireEqual(t, scene);
});

longTest('files of old days are removed', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const now = BigInt(Date.now()) * 1_000_000n;
  await sendSpans(scene, [aSpan({ name: 'old', start: now - 9n * DAY_NS }), aSpan({ name: 'young', start: now })]);
  await scene.run();
  t.equal(scene.files().length, 2);
  await scene.run({ keepMs: 9 * 86_400_000 });
  t.same(await namesInLake(scene), ['old', 'young'], 'the day has not ended that long ago');
  const call = await sluice(['compact', '--keep', '8d', '--memory', '256MiB'], { folder: scene.commands });
  t.match(call, { code: 0, err: /day=\S+: removed, 1 record/u });
  t.same(await namesInLake(scene), ['young']);
  t.equal(scene.files().length, 1);
  t.match((await scene.client.query('SELECT state FROM sluice.lake_jobs')).rows, [{ state: 'published' }]);
  t.equal((await scene.client.query("SELECT FROM sluice.audit WHERE action = 'archive.expire'")).rowCount, 1);
  await sendSpans(scene, [aSpan({ name: 'late', start: now - 9n * DAY_NS })]);
  await scene.run({ keepMs: 8 * 86_400_000 });
  t.same(await namesInLake(scene), ['young'], 'also what arrives for such a day');
});

longTest('parts that may have records to erase are published before their age', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const traceId = newTraceId();
  await sendSpans(scene, [aSpan({ name: 'erased', traceId }), aSpan({ name: 'kept' })]);
  await requestErasure((text, values = []) => scene.client.query(text, [...values]), { project: null, traceId });
  await sendSpans(scene, [aSpan({ name: 'later' })]);
  await scene.run({ olderThanMs: 3_600_000 });
  t.same(await namesInLake(scene), ['kept']);
  t.same((await scene.client.query('SELECT FROM sluice.lake_erasures')).rows, [], 'the request is done');
  await scene.run();
  t.same(await namesInLake(scene), ['kept', 'later']);
});

longTest('an object that is lost or damaged stops the run, and nothing of its compaction is published', async (t) => {
  const scene = await startCompaction(t);
  await sendSpans(scene, [aSpan({ name: 'a' }), aSpan({ name: 'b' })]);
  const path = join(scene.lake, scene.files('objects')[0] ?? '');
  const bytes = readFileSync(path);
  const flipped = Buffer.from(bytes);
  flipped[bytes.length - 20] = (flipped[bytes.length - 20] ?? 0) ^ 1;
  for (const damage of [
    () => writeFileSync(path, flipped),
    () => truncateSync(path, bytes.length - 1),
    () => rmSync(path),
  ]) {
    damage();
    await t.rejects(scene.run(), {
      message: /the part at byte 0 of ingest.* cannot be read/u,
      hint: /Restore the object/u,
    });
    t.same(scene.files(), []);
    writeFileSync(path, bytes);
  }
  await scene.client.query('UPDATE sluice.parts SET records = 3');
  await t.rejects(scene.run(), /it has 2 rows instead of 3/u);
  await scene.client.query("UPDATE sluice.parts SET records = 2, project = 'another'");
  await t.rejects(scene.run(), /other records of another, demo/u);
  t.same(scene.files(), []);
  await scene.client.query("UPDATE sluice.parts SET project = 'demo'");
  await scene.run();
  t.same(await namesInLake(scene), ['a', 'b']);
});

longTest('what was erased before its publication is not published, and is erased from files after it', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const [erased, later] = [newTraceId(), newTraceId()];
  await sendSpans(scene, [aSpan({ name: 'erased', traceId: erased }), aSpan({ name: 'kept' })]);
  await sendSpans(scene, [aSpan({ name: 'later', traceId: later })]);
  await sendSpans(scene, [aSpan({ name: 'other' })], OTHER_KEY);
  const prune = (...args: readonly string[]) => sluice(['prune', '--yes', ...args], { folder: scene.commands });
  t.match(await prune('--trace', erased), { code: 0, err: /Objects keep what they contain/u });
  const run = {
    ...(await sluice(['compact', '--older-than', '0s', '--memory', '256MiB'], { folder: scene.commands })),
  };
  t.match(run, { code: 0, out: /^Published 3 records in 1 file/u });
  t.same(await namesInLake(scene), ['kept', 'later', 'other']);
  t.same((await scene.client.query('SELECT FROM sluice.lake_erasures')).rows, [], 'the request is done');
  t.match(await prune('--trace', later), { code: 0, out: /Erased 1 record in 1 file/u });
  t.match(await prune('--project', 'other'), { code: 0, out: /Erased 1 record in 1 file/u });
  t.same(await namesInLake(scene), ['kept']);
  t.equal(scene.files().length, 1);
  await sendSpans(scene, [aSpan({ name: 'again', traceId: erased })]);
  await scene.run();
  t.same(await namesInLake(scene), ['again', 'kept'], 'records after the request are published');
  t.same((await scene.client.query('SELECT DISTINCT origin FROM sluice.lake_jobs')).rows, [{ origin: 'parts' }]);
});

longTest('an erasure during a run that was interrupted', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const traceId = newTraceId();
  const start = BigInt(Date.now()) * 1_000_000n - 3n * DAY_NS;
  await sendSpans(scene, [aSpan({ name: 'erased', traceId, start }), aSpan({ name: 'kept', start: start + DAY_NS })]);
  const report = (step: string): void => {
    if (step === 'publish') throw new Error('interrupted');
  };
  await t.rejects(scene.run({ report }), /interrupted/u);
  t.equal(scene.files().length, 2);
  await requestErasure((text, values = []) => scene.client.query(text, [...values]), { project: null, traceId });
  await scene.run();
  t.same(await namesInLake(scene), ['kept'], 'the file of a day without records is gone');
  t.equal(scene.files().length, 1);
  t.same((await scene.client.query("SELECT FROM sluice.lake_jobs WHERE state <> 'published'")).rows, []);
});

longTest('a run ends although more arrives all the time', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const session = sessionOf(scene.client);
  let arrived = 1;
  await sendSpans(scene, [aSpan()]);
  const patient: Session = {
    ...session,
    query: async (text, values) => {
      // Before each question for further parts.
      if (text.includes('WITH oldest') && arrived < 5) {
        await sendSpans(scene, [aSpan()]);
        arrived++;
      }
      return session.query(text, values);
    },
  };
  await scene.run({ session: patient, olderThanMs: 0 });
  t.equal((await linesOfLake(scene, 'spans')).length, 1);
  await scene.run();
  t.equal((await linesOfLake(scene, 'spans')).length, arrived);
});

longTest('a compaction has at most so many bytes, or one part', async (t) => {
  const scene = await startCompaction(t);
  for (const name of ['a', 'b', 'c']) await sendSpans(scene, [aSpan({ name })]);
  t.equal((await scene.run({ maxBytes: 1 })).length, 3);
  await requireEqual(t, scene);
});

longTest('more rows than the memory can sort at once', async (t) => {
  const scene = await startCompaction(t, 'objects');
  await sendSpans(scene, [aSpan()]);
  await addParts({ client: scene.client, store: new FolderStore(scene.lake) }, { parts: 95, textBytes: 12_000 });
  const duck = await Duck.open({ memoryBytes: 192 * 2 ** 20, folder: scene.commands });
  t.teardown(() => duck.close());
  t.match(await scene.run({ duck }), [{ records: 95 * 64 + 1 }]);
  const from = `read_parquet('${scene.lake}/lake/spans/*/*.parquet', file_row_number = true)`;
  const keys = await scene.duck.rows(
    `SELECT concat_ws('/', project, trace_id, start_time_unix_nano, span_id) AS key FROM ${from} ORDER BY file_row_number`,
  );
  const list = keys.map(({ key }) => String(key));
  t.same(list, [...list].sort(), 'the file is sorted');
  t.equal(new Set(list).size, 95 * 64 + 1);
});

longTest('objects of a database that was archived before', async (t) => {
  const scene = await startCompaction(t, 'postgres');
  const again = aSpan({ name: 'again', start: (BigInt(Date.now()) - 10n * 86_400_000n) * 1_000_000n });
  await sendSpans(scene, [again, aSpan({ name: 'a', start: BigInt(Date.now() - 10 * 86_400_000) * 1_000_000n })]);
  const archive = () => sluice(['archive', '--to', scene.lake, '--memory', '256MiB'], { folder: scene.commands });
  t.match(await archive(), { code: 0, out: /^Archived 2 records/u });
  const objects = await startCompaction(t, 'objects', 'auth, environment', scene);
  await sendSpans(objects, [again, aSpan({ name: 'b' })]);
  await objects.run();
  t.same(await namesInLake(objects), ['a', 'again', 'b'], 'the span of an archived day is there once');
  // Back again: the tables have none of these records.
  await sendSpans(scene, [aSpan({ name: 'c', start: BigInt(Date.now() - 10 * 86_400_000) * 1_000_000n })]);
  t.match(await archive(), { code: 0, out: /^Archived 1 record/u });
  t.same(await namesInLake(objects), ['a', 'again', 'b', 'c']);
});

t.test('the command publishes the objects, and refuses wrong options', async (t) => {
  const scene = await startCompaction(t);
  const call = (...args: readonly string[]) => sluice(['compact', ...args], { folder: scene.commands });
  t.match(await call('--dry-run'), { code: 0, out: 'All objects are published.\n' });
  await sendSpans(scene, [aSpan(), aSpan()]);
  for (const [path, body] of [
    ['/v1/logs', aLogRequest([{ timeUnixNano: '5', body: { stringValue: 'hello' } }])],
    ['/v1/metrics', aMetricRequest([aGauge('load', 0.5)])],
  ] as const)
    t.equal((await send(scene.url, { path, body: JSON.stringify(body) })).status, 200);
  t.match(await call(), { code: 0, out: /^All objects of this age are published/u });
  t.match(await call('--dry-run', '--older-than', '0s'), { code: 0, out: /ARRIVED[\s\S]*spans +1 +2/u });
  const young = await call('--older-than', '0s', '--memory', '256MiB', '--json');
  t.match(JSON.parse(young.out), [
    { signal: 'spans', records: 2 },
    { signal: 'logs', records: 1 },
    { signal: 'metric_points', records: 1 },
  ]);
  t.match(young.err, /^lake\/spans\/day=\S+\/job-000000000001\.parquet: 2 records/mu);
  await scene.client.query('DELETE FROM sluice.lake_jobs');
  const refused = await call();
  t.match(refused, { code: 1, err: /does not know: 3, [\s\S]*move them out of lake\// }, 'as after a restore');
  t.same(await call('--dry-run'), refused);
  const set = ['--set', 'exporters.postgres.archive.to=/tmp/archive'];
  t.match(await call(...set), {
    code: 1,
    err: /the configuration has an archive[\s\S]*Remove exporters\.postgres\.archive/u,
  });
});

longTest('the command is refused beside other work, with records of the tables, and without objects', async (t) => {
  const held = await startCompaction(t, 'objects');
  await held.client.query("SELECT pg_advisory_lock(hashtext('sluice.archive'))");
  t.match(await sluice(['compact'], { folder: held.commands }), {
    code: 1,
    err: /another command is at work on the lake/u,
  });
  await held.client.query('SELECT pg_advisory_unlock_all()');
  await held.client.query("INSERT INTO sluice.lake_jobs (signal, day) VALUES ('spans', '2026-01-01')");
  t.match(await sluice(['compact'], { folder: held.commands }), { code: 0 }, 'no record is in the tables too');
  await sendSpans(held, [aSpan()]);
  await held.client.query('UPDATE sluice.parts SET in_tables = true');
  t.match(await sluice(['compact'], { folder: held.commands }), {
    code: 1,
    err: /objects have records of the same tables/u,
  });
  const without = await startCompaction(t, 'postgres');
  t.match(await sluice(['compact'], { folder: without.commands }), {
    code: 1,
    err: /no pipeline .* has the exporter/u,
  });
});
