/**
 * Erasure with objects alone: after the documented time no byte of what was erased is left, neither in the database nor
 * in any file, compressed or not, of accepted requests and of others.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as zlib from 'node:zlib';
import t from 'tap';
import { removeOrphans } from '../../../src/exporters/objects/orphans.ts';
import { FolderStore } from '../../../src/object-store/folder-store.ts';
import { sluice } from '../../support/command-line.ts';
import { type CompactionScene, startCompaction } from '../../support/compaction-scene.ts';
import { KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';

t.setTimeout(300_000);

const { zstdDecompressSync } = zlib as { readonly zstdDecompressSync?: (bytes: Buffer) => Buffer };

/** Where the text is: tables, and files by their paths. */
async function placesOf(scene: CompactionScene, text: string): Promise<readonly string[]> {
  const places: string[] = [];
  const { rows } = await scene.client.query(
    `SELECT c.oid::regclass::text AS name FROM pg_class c
     WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind = 'r' ORDER BY 1`,
  );
  for (const { name } of rows) {
    // Bytes are written in hex.
    const found = await scene.client.query(
      `SELECT FROM ${name} t WHERE position($1 IN t::text) > 0 OR position($2 IN t::text) > 0 LIMIT 1`,
      [text, Buffer.from(text).toString('hex')],
    );
    if (found.rows.length > 0) places.push(name);
  }
  for (const file of readdirSync(scene.lake, { recursive: true, encoding: 'utf8' })) {
    const path = join(scene.lake, file);
    if (statSync(path).isFile() && (await readAll(scene, path)).includes(text)) places.push(file);
  }
  return places;
}

async function readAll({ duck }: CompactionScene, path: string): Promise<string> {
  const bytes = readFileSync(path);
  const texts = [bytes.toString('latin1')];
  if (path.endsWith('.gz')) texts.push(gunzipSync(bytes).toString());
  if (path.endsWith('.zst')) texts.push(String(zstdDecompressSync?.(bytes)));
  if (path.endsWith('.parquet')) {
    const rows = await duck.rows(`SELECT t::text AS row FROM read_parquet('${path}', hive_partitioning = false) t`);
    texts.push(...rows.map(({ row }) => String(row)));
    const metadata = await duck.rows(`SELECT m::text AS row FROM parquet_metadata('${path}') m`);
    texts.push(...metadata.map(({ row }) => String(row)));
  }
  return texts.join('\n');
}

t.test('no byte of a trace or a project is left after its erasure', async (t) => {
  const scene = await startCompaction(t, 'objects');
  const post = async (body: object, { path = '/v1/traces', key = KEY } = {}): Promise<number> =>
    (await send(scene.url, { path, body: JSON.stringify(body), authorization: `Bearer ${key}` })).status;
  const [traceId, kept] = [newTraceId(), newTraceId()];
  const [canary, ofProject] = ['canary-of-the-trace', 'canary-of-the-project'];
  const spans = aTraceRequest([
    aSpan({ traceId, name: canary, attributes: { text: canary } }),
    aSpan({ traceId: kept, name: 'kept' }),
  ]);
  const log = aLogRequest([{ timeUnixNano: '5', traceId, body: { stringValue: canary } }]);
  const project = aTraceRequest([aSpan({ attributes: { text: ofProject } })]);
  t.equal(await post(spans), 200);
  t.equal(await post(spans), 200, 'a replay');
  t.equal(await post(aTraceRequest([aSpan({ traceId, name: canary })]), { key: OTHER_KEY }), 409);
  t.equal(await post(log, { path: '/v1/logs' }), 200);
  // In a file, and later in an object that is not published.
  await scene.run();
  t.equal(await post(aTraceRequest([aSpan({ traceId, name: canary })])), 200);
  t.equal(await post(project, { key: OTHER_KEY }), 200);
  const before = await placesOf(scene, canary);
  t.ok(before.some((place) => place.endsWith('.parquet')) && before.some((place) => place.startsWith('ingest/')));
  t.ok((await placesOf(scene, ofProject)).length > 0);

  for (const words of [
    ['--trace', traceId],
    ['--project', 'other'],
  ])
    t.match(await sluice(['prune', '--yes', ...words], { folder: scene.commands }), { code: 0 });
  await scene.run({ olderThanMs: 3_600_000 });
  const inFiles = (places: readonly string[]): readonly string[] =>
    places.filter((place) => !place.startsWith('ingest/'));
  for (const text of [canary, ofProject])
    t.same(inFiles(await placesOf(scene, text)), [], 'after the next run objects alone have it');
  // A day later.
  await scene.client.query("UPDATE sluice.compactions SET published_at = published_at - interval '25 hours'");
  await scene.run({ olderThanMs: 3_600_000 });
  const signal = new AbortController().signal;
  await removeOrphans({ store: new FolderStore(scene.lake), database: scene.client }, { orphanMs: 0, signal });
  for (const text of [canary, ofProject]) t.same(await placesOf(scene, text), [], 'then nothing has it');
  const names = await scene.duck.rows(`SELECT name FROM read_parquet('${scene.lake}/lake/spans/*/*.parquet')`);
  t.same(names, [{ name: 'kept' }], 'other records stay');
});
