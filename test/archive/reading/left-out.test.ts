/** Which failures are those of one file, and which of the store. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { BrokenFile, reasonOf } from '../../../src/archive/reading/left-out.ts';
import { FolderStore } from '../../../src/object-store/folder-store.ts';
import type { ObjectStore, StoreFault } from '../../../src/object-store/object-store.ts';
import { S3Store } from '../../../src/object-store/s3-store.ts';
import { type S3Fault, startS3 } from '../../support/fake-s3.ts';

const FILE = { key: 'lake/spans/a.parquet', bytes: 5 };
const RANGE = { offset: 0, length: 5 };
const fake = await startS3(t);
const timing = { idleMs: 200, attempts: 2, pauseMs: 1 };
const s3 = new S3Store({ bucket: fake.bucket, prefix: 'p/', environment: fake.environment, timing });
t.teardown(() => s3.close());

const failure = (fault: StoreFault): Error => Object.assign(new Error(), { fault }) as Error;

/** Why a read fails, or the failure. */
async function outcome(store: ObjectStore, faults: readonly S3Fault[] = []): Promise<string> {
  fake.faults.splice(0, fake.faults.length, ...faults);
  try {
    for await (const _ of await store.get(FILE.key, RANGE));
    return 'read';
  } catch (error) {
    return reasonOf(error, store, FILE);
  }
}

t.test('an absent file of a store with others, in a folder and in a bucket', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'left-out-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const store of [new FolderStore(folder), s3]) {
    await t.rejects(outcome(store), { message: /^there is no archive in / }, 'an empty store is another one');
    await store.put('lake/spans/b.parquet', Buffer.from('other'));
    t.equal(await outcome(store), 'it does not exist');
    await store.put(FILE.key, Buffer.alloc(0));
    t.equal(await outcome(store), 'it has 0 bytes instead of 5');
    await store.put(FILE.key, Buffer.from('12345'));
    t.equal(await reasonOf(new BrokenFile('a reason'), store, FILE), 'it is damaged: a reason');
    t.equal(await outcome(store), 'read');
  }
});

t.test('a store that is unavailable, or refuses everything, is a failure', async (t) => {
  for (const faults of [
    ['slow_down', 'slow_down'],
    ['hang', 'hang'],
    ['cut', 'cut'],
  ] as const)
    await t.rejects(outcome(s3, faults), failure('unavailable'), faults[0]);
  await t.rejects(outcome(s3, ['denied', 'denied']), failure('denied'), 'it also refuses the list');
  t.match(await outcome(s3, ['denied']), /AccessDenied/u, 'one object');
  fake.isGone = true;
  await t.rejects(outcome(s3), failure('absent'), 'no bucket');
});

t.test('other errors are not of a file', async (t) => {
  await t.rejects(reasonOf(new Error('no space left'), s3, FILE), /no space left/u);
});
