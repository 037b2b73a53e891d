/** The store in S3 and the faults of servers and networks. */
import { createHash } from 'node:crypto';
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { type ObjectStore, readObject, StoreError } from '../../src/object-store/object-store.ts';
import { addressOf, type S3Timing } from '../../src/object-store/s3-request.ts';
import { MAX_OBJECT_BYTES, S3Store } from '../../src/object-store/s3-store.ts';
import { type S3Fault, startS3 } from '../support/fake-s3.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { faultOf, keysOf } from './contract.ts';

t.setTimeout(300_000);

/** Nothing depends on speed: only the test of a silent server has a short idle time. */
const TIMING: S3Timing = { idleMs: PATIENCE_MS, attempts: 4, pauseMs: 2 };

const fake = await startS3(t);
const bytes = Buffer.from('0123456789');

function openStore(
  changed: { timing?: Partial<S3Timing>; environment?: Readonly<Record<string, string>> } = {},
): S3Store {
  const environment = { ...fake.environment, ...changed.environment };
  const store = new S3Store({
    bucket: fake.bucket,
    prefix: 'p/',
    environment,
    timing: { ...TIMING, ...changed.timing },
  });
  t.teardown(() => store.close());
  return store;
}

t.beforeEach(() => {
  fake.objects.clear();
  fake.requests.length = 0;
  fake.faults.length = 0;
});

const CALLS: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
  put: (store) => store.put('k', bytes),
  'put if absent': (store) => store.put('new', bytes, { ifAbsent: true }),
  get: (store) => readObject(store, 'k'),
  'get of a range': (store) => readObject(store, 'k', { offset: 1, length: 2 }),
  head: (store) => store.head('k'),
  list: (store) => keysOf(store),
  delete: (store) => store.delete(['k']),
};

const TRANSIENT: readonly S3Fault[] = ['slow_down', 'lost'];

t.test('every call is tried again after 503 and after a lost answer', async (t) => {
  const store = openStore();
  for (const [name, call] of Object.entries(CALLS)) {
    for (const fault of TRANSIENT) {
      fake.objects.clear();
      await store.put('k', bytes);
      fake.faults.push(fault, fault);
      t.equal(await faultOf(call(store)), 'none', `${name} after ${fault}`);
      t.equal(fake.faults.length, 0);
    }
  }
});

t.test('every call is `unavailable` when the attempts are used up', async (t) => {
  const store = openStore();
  for (const [name, call] of Object.entries(CALLS)) {
    for (const fault of TRANSIENT) {
      await store.put('k', bytes);
      await store.delete(['new']);
      fake.requests.length = 0;
      fake.faults.push(...Array<S3Fault>(TIMING.attempts).fill(fault));
      t.equal(await faultOf(call(store)), 'unavailable', `${name} after ${fault}`);
      t.equal(fake.requests.length, TIMING.attempts);
    }
  }
});

t.test('a put that a proxy answers with a page of its own is tried again', async (t) => {
  const store = openStore();
  fake.faults.push('page');
  await store.put('k', bytes, { ifAbsent: true });
  t.same(await readObject(store, 'k'), bytes);
  fake.faults.push(...Array<S3Fault>(TIMING.attempts).fill('page'));
  t.equal(await faultOf(store.put('other', bytes)), 'unavailable');
});

t.test('a server that is silent ends an attempt, not the call', async (t) => {
  const store = openStore({ timing: { idleMs: 300, attempts: 50 } });
  fake.faults.push('hang');
  await store.put('k', bytes, { ifAbsent: true });
  fake.faults.push('hang');
  t.same(await readObject(store, 'k'), bytes);
});

t.test('a server that has disappeared is `unavailable`', async (t) => {
  const store = openStore({ environment: { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' } });
  for (const [name, call] of Object.entries(CALLS)) t.equal(await faultOf(call(store)), 'unavailable', name);
});

t.test('a put whose answer was lost finds its own object and succeeds', async (t) => {
  const store = openStore();
  fake.faults.push('lost');
  await store.put('k', bytes, { ifAbsent: true });
  t.same(await readObject(store, 'k'), bytes);
  t.same(fake.requests.map(({ method }) => method).slice(0, 3), ['PUT', 'PUT', 'HEAD']);
  fake.faults.push('slow_down');
  t.equal(await faultOf(store.put('k', Buffer.from('other'), { ifAbsent: true })), 'exists', 'of another put');
  t.same(await readObject(store, 'k'), bytes);
});

t.test('an answer that is cut is an error of the reader, and a list is read again', async (t) => {
  const store = openStore();
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await store.put(key, bytes);
  fake.faults.push('cut');
  t.equal(await faultOf(readObject(store, 'a')), 'unavailable');
  fake.faults.push('cut');
  t.equal(await faultOf(readObject(store, 'a', { offset: 2, length: 4 })), 'unavailable');
  fake.faults.push(null, 'cut', 'slow_down');
  t.same(await keysOf(store), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  fake.faults.push('cut');
  await store.delete(['a']);
  t.same(await keysOf(store, 'a'), []);
});

t.test('a refusal is `denied` at once, and a bucket that is gone `absent`', async (t) => {
  const store = openStore();
  for (const [name, call] of Object.entries(CALLS)) {
    fake.requests.length = 0;
    fake.faults.push('denied');
    t.equal(await faultOf(call(store)), 'denied', name);
    t.equal(fake.requests.length, 1);
  }
  fake.isGone = true;
  t.teardown(() => {
    fake.isGone = false;
  });
  for (const [name, call] of Object.entries(CALLS)) {
    t.equal(await faultOf(call(store)), name === 'head' ? 'none' : 'absent', name);
  }
});

t.test('a write that may have happened is never reported as refused', async (t) => {
  const store = openStore();
  fake.faults.push('lost', 'denied');
  t.equal(await faultOf(store.put('k', bytes)), 'unavailable');
  t.ok(fake.objects.has('p/k'));
});

t.test('expired credentials are requested again, and a wrong region is corrected', async (t) => {
  const store = openStore({ environment: { AWS_REGION: 'mars-1' } });
  fake.faults.push('expired');
  await store.put('k', bytes);
  fake.faults.push(...Array<S3Fault>(TIMING.attempts).fill('expired'));
  t.equal(await faultOf(store.put('k', bytes)), 'denied');
});

t.test('keys of the shared files that were replaced are read again', async (t) => {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = fake.environment;
  const file = join(t.testdir(), 'credentials');
  const write = (value: string | undefined): void =>
    writeFileSync(file, `[default]\naws_access_key_id = ${id}\naws_secret_access_key = ${value}\n`);
  write('former');
  const none = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
  const store = openStore({ environment: { ...none, AWS_SHARED_CREDENTIALS_FILE: file } });
  t.equal(await faultOf(store.put('k', bytes)), 'denied');
  write(secret);
  t.equal(await faultOf(store.put('k', bytes)), 'none');
});

t.test('a list that the store does not continue is an error', async (t) => {
  const store = openStore();
  for (const key of ['a', 'b', 'c', 'd']) await store.put(key, bytes);
  fake.continues = false;
  t.teardown(() => (fake.continues = true));
  t.equal(await faultOf(keysOf(store)), 'invalid');
});

t.test('the signature covers the body', async (t) => {
  const store = openStore();
  const path = join(t.testdir(), 'body');
  writeFileSync(path, bytes);
  await store.put('k', bytes);
  await store.put('k', { path });
  const hash = createHash('sha256').update(bytes).digest('hex');
  t.same(
    fake.requests.map(({ headers }) => headers['x-amz-content-sha256']),
    [hash, hash],
  );
});

t.test('no message holds a secret', async (t) => {
  const AWS_SESSION_TOKEN = 'the-session-token';
  const wrong = { AWS_SECRET_ACCESS_KEY: 'the-wrong-secret' };
  const stores = [openStore({ environment: { AWS_SESSION_TOKEN } }), openStore({ environment: wrong })];
  const messages: string[] = [];
  for (const store of stores) {
    for (const fault of ['denied', 'expired', 'lost', 'slow_down', null] as const) {
      if (fault !== null) fake.faults.push(...Array<S3Fault>(TIMING.attempts).fill(fault));
      await store.get('none').catch((error: StoreError) => messages.push(`${error.stack} ${String(error.cause)}`));
      fake.faults.length = 0;
    }
  }
  t.equal(messages.length, 10);
  t.notMatch(messages.join('\n'), /session-token|wrong-secret|fake\/secret|AKIDFAKE|Signature=/u);
  t.match(messages.join('\n'), /s3:\/\/lake-bucket\/p\/none: 403 AccessDenied the fake says so/u);
});

t.test('objects of others in the bucket are not listed', async (t) => {
  const store = openStore();
  await store.put('k', bytes);
  for (const key of ['p/a b', 'p/.hidden', 'p/x<y>&amp;', 'q/other', 'p/']) {
    fake.objects.set(key, { body: bytes, modified: new Date(), meta: {} });
  }
  t.same(await keysOf(store), ['k']);
});

t.test('a file over the limit of one put is refused before it is read', async (t) => {
  const path = join(t.testdir(), 'large');
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, '');
  truncateSync(path, MAX_OBJECT_BYTES + 1);
  t.equal(await faultOf(openStore().put('k', { path })), 'invalid');
  t.equal(fake.requests.length, 0);
});

t.test('a bucket of AWS is a host name, and elsewhere a part of the path', async (t) => {
  const key = 'lake/day=2026-11-22/x';
  const at = (bucket: string, endpoint: string | null, region = 'eu-west-1'): string => {
    const { url, path } = addressOf({ bucket, key, region, endpoint: endpoint === null ? null : new URL(endpoint) });
    return url.origin + path;
  };
  t.equal(at('b', null), 'https://b.s3.eu-west-1.amazonaws.com/lake/day%3D2026-11-22/x');
  t.equal(at('b', null, 'cn-north-1'), 'https://b.s3.cn-north-1.amazonaws.com.cn/lake/day%3D2026-11-22/x');
  t.equal(at('a.b', null), 'https://s3.eu-west-1.amazonaws.com/a.b/lake/day%3D2026-11-22/x');
  t.equal(at('b', 'http://store:9000'), 'http://store:9000/b/lake/day%3D2026-11-22/x');
  t.equal(at('b', 'https://store/s3/'), 'https://store/s3/b/lake/day%3D2026-11-22/x');
});
