/**
 * The contract of object stores, over every implementation. With `SLUICE_TEST_S3_URL` (`s3://bucket/prefix`, empty) and
 * the variables of AWS it also runs against a real S3 server.
 */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openStore } from '../../src/object-store/open-store.ts';
import { startS3 } from '../support/fake-s3.ts';
import { CONTRACT, type OpenStore } from './contract.ts';

t.setTimeout(300_000);

const REAL_URL = process.env['SLUICE_TEST_S3_URL'];

const fake = await startS3(t);
const folder = join(t.testdir(), 'not', 'made', 'yet');
const inBucket = (path: string): OpenStore => {
  return () => openStore(`s3://${fake.bucket}${path}`, { environment: fake.environment });
};

const STORES: readonly (readonly [string, OpenStore])[] = [
  ['folder', () => openStore(folder, { environment: {} })],
  ['S3', inBucket('')],
  ['S3 with a prefix', inBucket('/some/prefix')],
];

for (const [name, open] of STORES) t.test(name, (t) => contract(t, open));

t.test('no message repeats the credentials of a URL', async (t) => {
  for (const url of [
    's3://id:secret@bucket/x',
    's3://id:se/cret@bucket',
    's3://b_/x?secret=secret',
    'gs:secret@bucket',
  ])
    t.throws(() => openStore(url, { environment: {} }), { message: /^(?!.*(?:secret|cret@)).*names no/u }, url);
});

t.test(
  'a real S3 server meets the contract',
  { skip: REAL_URL === undefined && 'set SLUICE_TEST_S3_URL to run it' },
  (t) => contract(t, () => openStore(REAL_URL ?? '', { environment: process.env })),
);

async function contract(t: Test, open: OpenStore): Promise<void> {
  const stores: ReturnType<OpenStore>[] = [];
  t.teardown(() => Promise.all(stores.map((store) => store.close())));
  const opened: OpenStore = () => {
    const store = open();
    stores.push(store);
    return store;
  };
  for (const [title, check] of CONTRACT) await t.test(title, (t) => check(t, opened));
}
