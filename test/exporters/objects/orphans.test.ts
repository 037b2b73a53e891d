// Orphans: only old objects without a part are removed, and nothing else in the place.
import { mkdtempSync, rmSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { type Codec, idOf, keyOf, newObjectId } from '../../../src/exporters/objects/object-key.ts';
import { claimDay, removeOrphans } from '../../../src/exporters/objects/orphans.ts';
import { FolderStore } from '../../../src/object-store/folder-store.ts';
import { connectTo } from '../../support/connection.ts';
import { createDatabase } from '../../support/postgres.ts';
import { SERVED } from '../../support/postgres-daemon.ts';
import { longTest } from '../../support/long.ts';
import { DAY_MS, HOUR_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const { url } = await createDatabase(t, SERVED);
const client = await connectTo(t, url);
const database = { query: (text: string, values: readonly unknown[] = []) => client.query(text, [...values]) };

const root = mkdtempSync(join(tmpdir(), 'sluice-orphans-'));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
const store = new FolderStore(root);

/** Puts an object that the store dates this long ago; the time in its id can differ. */
async function anObject(ageMs: number, { idAgeMs = ageMs, codec = 'gzip' as Codec } = {}): Promise<string> {
  const key = keyOf(newObjectId(Date.now() - idAgeMs), codec);
  await putAt(key, ageMs);
  return key;
}

async function putAt(key: string, ageMs: number): Promise<void> {
  await store.put(key, Buffer.from('x'));
  const time = new Date(Date.now() - ageMs);
  await utimes(join(root, key), time, time);
}

async function aPart(key: string, firstByte = 0): Promise<void> {
  await client.query("INSERT INTO sluice.parts VALUES ($1, $2, 1, 'gzip', 'spans', 'demo', 1)", [idOf(key), firstByte]);
}

async function keys(): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key } of store.list('')) found.push(key);
  return found;
}

const limits = { orphanMs: DAY_MS, signal: new AbortController().signal };

t.test('old objects that no part names are removed; the others and what is not of the exporter stay', async (t) => {
  const named = await anObject(3 * DAY_MS);
  await aPart(named);
  await aPart(named, 1);
  const young = await anObject(23 * HOUR_MS);
  const otherClock = await anObject(HOUR_MS, { idAgeMs: 30 * DAY_MS });
  await anObject(25 * HOUR_MS);
  await anObject(25 * HOUR_MS, { codec: 'zstd' });
  await anObject(25 * HOUR_MS, { idAgeMs: -30 * DAY_MS });
  const others = [
    'ingest/owner.json',
    'ingest/00/2020-01-01/mine.ndjson.gz',
    'lake/spans/day=2020-01-01/job-1.parquet',
  ];
  for (const key of others) await putAt(key, 30 * DAY_MS);
  t.equal(await removeOrphans({ store, database }, limits), 3);
  t.same(await keys(), [named, young, otherClock, 'ingest/clock', ...others].sort());
  t.equal(await removeOrphans({ store, database }, limits), 0);
});

longTest('orphans of more than one batch are removed', async (t) => {
  const kept: string[] = [];
  for (let index = 0; index < 1200; index++) {
    const key = await anObject(2 * DAY_MS);
    if (index % 10 !== 0) continue;
    await aPart(key);
    kept.push(key);
  }
  t.equal(await removeOrphans({ store, database }, limits), 1080);
  const left = new Set(await keys());
  t.ok(kept.every((key) => left.has(key)));
});

t.test('a stopped exporter ends the removal', async (t) => {
  await anObject(2 * DAY_MS);
  const { length } = await keys();
  await t.rejects(removeOrphans({ store, database }, { ...limits, signal: AbortSignal.abort() }));
  t.equal((await keys()).length, length);
});

t.test('one process a day removes them', async (t) => {
  t.same([await claimDay({ database }), await claimDay({ database })], [true, false]);
  const set = (seconds: number) =>
    client.query(
      `UPDATE sluice.maintenance_state SET state = jsonb_build_object('swept', extract(epoch FROM now())::float8 + $1) WHERE name = 'objects'`,
      [seconds],
    );
  await set(-90_000);
  t.equal(await claimDay({ database }), true, 'a day later');
  await set(90_000);
  t.equal(await claimDay({ database }), true, 'a clock that was set back');
});
