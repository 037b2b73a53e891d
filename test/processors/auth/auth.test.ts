// Keys: static and stored, all their invalid states, and lookups that fail.
import t from 'tap';
import { KEY_DIRECTORY, type KeyDirectory } from '../../../src/component/capabilities/key-directory.ts';
import { defineExtension } from '../../../src/component/extension.ts';
import { COMPONENTS } from '../../../src/components.ts';
import { Administration } from '../../../src/extensions/postgres/administration.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { createApiKey } from '../../../src/pdata/api-key.ts';
import { LookupCache } from '../../../src/processors/auth/lookup-cache.ts';
import { load } from '../../support/config-files.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../../support/daemon.ts';
import { type Answer, send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';

const post = (url: string, key: string, environment = 'default'): Promise<Answer> =>
  send(url, {
    authorization: `Bearer ${key}`,
    body: JSON.stringify(aTraceRequest([aSpan()], { 'deployment.environment.name': environment })),
  });

/** A daemon whose key directory is the test's own. */
function withDirectory(t: Tap, directory: KeyDirectory, timeout = '2s'): ReturnType<typeof startDaemon> {
  const fake = defineExtension<object>({
    type: 'fake_directory',
    summary: 'Answers as the test says.',
    stability: 'development',
    schema: { type: 'object', additionalProperties: false, properties: {} },
    example: '{}',
    create: (_options, host) => {
      host.capabilities.offer(KEY_DIRECTORY, directory);
      return {};
    },
  });
  const config = `extensions: { fake_directory: {} }\n${FILE_CONFIG.replace('  auth:', `  auth:\n    lookup_timeout: ${timeout}`).replace('service:', 'service:\n  extensions: [fake_directory]')}`;
  return startDaemon(t, { config, definitions: [...COMPONENTS, fake] });
}
type Tap = Parameters<typeof startDaemon>[0];

const silent = { findProject: async () => null, onChange: () => () => undefined };

t.test('a stored key works until it is revoked, for its environment only', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const database = new Database().use({ connectionString: daemon.databaseUrl });
  t.teardown(() => database.close());
  const administration = new Administration(database);
  await administration.createProject('shop', 'paid', null);
  const everywhere = await administration.createKey('shop', null, null);
  const staging = await administration.createKey('shop', ' Staging ', 'ci');
  t.equal((await post(daemon.url, everywhere.text)).status, 200);
  t.equal((await post(daemon.url, staging.text, 'STAGING')).status, 200);
  t.equal((await post(daemon.url, staging.text, 'production')).status, 403);
  await administration.revokeKey(everywhere.publicId);
  // The limit of 5 seconds is tested below, with the clock of the cache.
  const isRefused = async () => ((await post(daemon.url, everywhere.text)).status === 401 ? true : undefined);
  t.ok(await waitFor(isRefused, { timeoutMs: PATIENCE_MS }), 'revoked');
  t.ok(await isRefused(), 'and stays so');
  t.equal((await post(daemon.url, staging.text, 'staging')).status, 200, 'other keys stay');
  t.equal(
    (await daemon.query('SELECT hash, length(hash) AS length FROM sluice.api_keys')).every(
      (row) => row['length'] === 32,
    ),
    true,
  );
});

t.test('unknown and misspelt keys are 401, and a wrong checksum makes no lookup', async (t) => {
  let lookups = 0;
  const daemon = await withDirectory(t, { ...silent, findKey: async () => (lookups++ < 0 ? null : null) });
  const key = createApiKey().text;
  t.equal((await post(daemon.url, key)).status, 401);
  t.equal(lookups, 1);
  t.equal((await post(daemon.url, `${key.slice(0, -1)}${key.endsWith('a') ? 'b' : 'a'}`)).status, 401);
  t.equal((await post(daemon.url, key.slice(0, 40))).status, 401);
  t.equal(lookups, 1, 'refused by format and checksum');
  t.equal((await post(daemon.url, key)).status, 401);
  t.equal(lookups, 1, 'that a key is unknown is remembered too');
});

t.test('the right id with another secret is 401', async (t) => {
  const mine = createApiKey();
  const daemon = await withDirectory(t, {
    ...silent,
    findKey: async () => ({
      hash: createApiKey().hash,
      revoked: false,
      credential: {
        project: { name: 'p', plan: 'paid', monthlySpans: null, privacy: new Map() },
        environment: null,
        keyId: 'x',
      },
    }),
  });
  t.equal((await post(daemon.url, mine.text)).status, 401);
});

t.test('a lookup that fails or takes too long is 500, and is tried again the next time', async (t) => {
  let answers = 0;
  const failing = await withDirectory(t, {
    ...silent,
    findKey: async () => Promise.reject(new Error(`down ${++answers}`)),
  });
  const key = createApiKey().text;
  const answer = await post(failing.url, key);
  t.equal(answer.status, 500);
  t.match(JSON.parse(answer.body.toString()), { message: /could not be checked/ });
  t.notMatch(answer.body.toString(), /down/, 'details stay inside');
  t.equal((await post(failing.url, key)).status, 500);
  t.equal(answers, 2);
  t.equal((await post(failing.url, KEY)).status, 200, 'static keys need no lookup');
  const hanging = await withDirectory(t, { ...silent, findKey: () => new Promise(() => undefined) }, '50ms');
  t.equal((await post(hanging.url, key)).status, 500);
});

t.test('a lookup is cached for its time, and not longer when the clock is set back', async (t) => {
  let [nowMs, lookups] = [1_000_000, 0];
  const counter = { add: () => undefined };
  const ask = async () => `answer ${++lookups}`;
  const limits = { lifeMs: 5000, timeoutMs: 1000, fromClients: true };
  const cache = new LookupCache(ask, limits, () => nowMs, { hits: counter, misses: counter });
  t.equal(await cache.find('key'), 'answer 1');
  nowMs += 4999;
  t.equal(cache.find('key'), 'answer 1');
  nowMs += 1;
  t.equal(await cache.find('key'), 'answer 2');
  t.equal(cache.find('key'), 'answer 2');
  nowMs -= 3_600_000;
  t.equal(await cache.find('key'), 'answer 3');
});

t.test('contradicting keys are reported with their path before anything starts', async (t) => {
  const keys = ['plan: free', 'monthly_spans: 10'].map(
    (rest) => `      - { key: first-key-of-sixteen, project: shop, ${rest} }\n`,
  );
  const config = FILE_CONFIG.replace('keys:\n', `keys:\n${keys.join('')}`);
  const request = { definitions: COMPONENTS };
  const { message } = await load({ 'a.yaml': config }, request).then(
    () => ({ message: '' }),
    (error: Error) => error,
  );
  t.match(message, /a\.yaml:\d+:\d+: error: the free plan needs a monthly quota/u);
  t.match(message, /error: the paid plan has no quota/u);
  t.match(message, /error: this key exists already/u);
  t.match(message, /error: the keys of project "shop" disagree about its plan/u);
  t.notMatch(message, /first-key-of-sixteen/u);
});

t.test('a damaged hash is refused, instead of being a key itself', async (t) => {
  for (const value of [
    'sha256:0123456789abcdef',
    `SHA256:${'g'.repeat(64)}`,
    'sha256:n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
  ]) {
    const config = FILE_CONFIG.replace('keys:\n', `keys:\n      - { key: "${value}", project: shop }\n`);
    const message = /error: this is not a hash: it needs 64 hex digits after sha256:.*hint: Make it with: printf %s/su;
    await t.rejects(load({ 'a.yaml': config }, { definitions: COMPONENTS }), { message }, value);
  }
});

t.test('a key that a header cannot carry everywhere is refused, instead of never being valid', async (t) => {
  for (const value of [
    'schlüssel-0123456789',
    'key-\u{1f511}-0123456789ab',
    'key-with-\\u0001-0123456789',
    'key with spaces 01',
  ]) {
    const config = FILE_CONFIG.replace('keys:\n', `keys:\n      - { key: "${value}", project: shop }\n`);
    const message = /processors\.auth\.keys\[0\]\.key must be of the form .*hint: The key itself \(/su;
    await t.rejects(load({ 'a.yaml': config }, { definitions: COMPONENTS }), { message }, value);
  }
});

t.test('concurrent lookups of one key are one query', async (t) => {
  let lookups = 0;
  const key = createApiKey();
  const credential = {
    project: { name: 'p', plan: 'paid' as const, monthlySpans: null, privacy: new Map() },
    environment: null,
    keyId: key.publicId,
  };
  const daemon = await withDirectory(t, {
    ...silent,
    findKey: async () => {
      lookups++;
      await new Promise((resolve) => setImmediate(resolve));
      return { hash: key.hash, revoked: false, credential };
    },
  });
  const answers = await Promise.all(Array.from({ length: 8 }, () => post(daemon.url, key.text)));
  t.ok(answers.every(({ status }) => status === 200));
  t.ok(lookups < 8, `${lookups} lookups for 8 requests`);
});

t.test(
  'a static key has the stored privacy settings of its project, and gets 503 when they cannot be read',
  async (t) => {
    const broken = await withDirectory(t, {
      ...silent,
      findKey: async () => null,
      findProject: async () => Promise.reject(new Error('down')),
    });
    const answer = await post(broken.url, KEY);
    t.equal(answer.status, 503);
    t.equal(answer.headers['retry-after'], '1');
  },
);

/** Lookups that the test answers. */
function manualLookups({ lifeMs = 5000, timeoutMs = PATIENCE_MS } = {}) {
  const asked: { readonly name: string; answer(found: string | null): void }[] = [];
  const clock = { nowMs: 1_000_000 };
  const ask = (name: string) =>
    new Promise<string | null>((resolve) => void asked.push({ name, answer: (found) => resolve(found) }));
  const counter = { add: () => undefined };
  const limits = { lifeMs, timeoutMs, fromClients: true };
  const cache = new LookupCache(ask, limits, () => clock.nowMs, { hits: counter, misses: counter });
  return { asked, clock, cache };
}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

t.test('a change during a lookup makes its answer invalid, and the key is known from then on', async (t) => {
  const { asked, cache } = manualLookups();
  const first = cache.find('real');
  cache.clear();
  const second = cache.find('real');
  t.equal(asked.length, 2, 'the answer of the first lookup may be of before the change');
  asked[0]?.answer('before');
  t.equal(await first, 'before');
  t.equal(cache.lastKnown('real'), 'before');
  t.equal(cache.find('real'), second, 'not answered from the cache');
  asked[1]?.answer('after');
  t.equal(await second, 'after');
  t.equal(cache.find('real'), 'after');

  const late = cache.find('other');
  cache.clear();
  const latest = cache.find('other');
  asked[3]?.answer('after');
  t.equal(await latest, 'after');
  asked[2]?.answer('before');
  t.equal(await late, 'before');
  t.equal(cache.lastKnown('other'), 'after', 'an earlier answer does not replace a later one');
});

t.test('lookups of guessed keys are limited, and a known key does not wait for them', async (t) => {
  const { asked, clock, cache } = manualLookups();
  const first = cache.find('real');
  await nextTurn();
  asked[0]?.answer('yes');
  t.equal(await first, 'yes');
  clock.nowMs += 5000;

  const guesses = Array.from({ length: 1002 }, (_, index) => cache.find(`guess ${index}`));
  await nextTurn();
  t.equal(asked.length, 3, 'two of them are asked');
  await t.rejects(Promise.resolve(cache.find('one too many')), { code: 'overloaded' });
  const again = cache.find('real');
  await nextTurn();
  t.equal(asked.at(-1)?.name, 'real', 'at once');
  asked.at(-1)?.answer('still');
  t.equal(await again, 'still');
  cache.clear();
  const changed = cache.find('real');
  await nextTurn();
  t.equal(asked.at(-1)?.name, 'real', 'also after word of a change');
  asked.at(-1)?.answer('changed');
  t.equal(await changed, 'changed');
  for (let index = 0; index < asked.length; index++) {
    asked[index]?.answer(null);
    await nextTurn();
  }
  t.same(new Set(await Promise.all(guesses)), new Set([null]));
  t.equal(cache.find('real'), 'changed', 'and they do not push it out of the cache');
});

t.test('a key that was used before it was created works soon after its creation', async (t) => {
  const { asked, clock, cache } = manualLookups();
  const probe = cache.find('key');
  await nextTurn();
  asked[0]?.answer(null);
  t.equal(await probe, null);
  clock.nowMs += 999;
  t.equal(cache.find('key'), null);
  clock.nowMs += 1;
  const later = cache.find('key');
  await nextTurn();
  asked[1]?.answer('made');
  t.equal(await later, 'made');
});

t.test('a key that waits too long for other lookups is refused as overloaded, a failed lookup is not', async (t) => {
  const { asked, cache } = manualLookups({ timeoutMs: 50 });
  const lookups = [1, 2, 3].map((index) => Promise.resolve(cache.find(`key ${index}`)));
  const outcomes = await Promise.allSettled(lookups);
  const reasons = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason : null));
  t.match(reasons, [/no answer within 50 ms/, /no answer within 50 ms/, { code: 'overloaded' }]);
  for (const { answer } of asked) answer(null);
  await nextTurn();
  t.equal(asked.length, 2, 'and it is not asked for any more');
});
