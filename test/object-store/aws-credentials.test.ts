/** Where the credentials of AWS come from, their order, their renewal, and that no message holds one. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { CredentialChain, type Environment } from '../../src/object-store/aws-credentials.ts';
import { StoreError } from '../../src/object-store/object-store.ts';

t.setTimeout(300_000);

interface Endpoint {
  readonly url: string;
  readonly requests: {
    readonly method: string;
    readonly path: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  /** The body by method and path; otherwise 404. */
  readonly answers: Map<string, string>;
}

async function startEndpoint(t: Test): Promise<Endpoint> {
  const endpoint = { url: '', requests: [] as Endpoint['requests'], answers: new Map<string, string>() };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      endpoint.requests.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
      const body = endpoint.answers.get(`${method} ${path}`);
      response.writeHead(body === undefined ? 404 : 200).end(body ?? 'secret-of-the-endpoint');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  endpoint.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return endpoint;
}

function newFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-credentials-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Nothing of this machine. */
const bare = (t: Test, more: Environment = {}): Environment => ({
  HOME: newFolder(t),
  AWS_EC2_METADATA_DISABLED: 'true',
  ...more,
});

const KEYS = { AWS_ACCESS_KEY_ID: 'AKENV', AWS_SECRET_ACCESS_KEY: 'secret-env' };
const json = (id: string, expiration: Date): string =>
  JSON.stringify({
    AccessKeyId: id,
    SecretAccessKey: `secret-${id}`,
    Token: `token-${id}`,
    Expiration: expiration.toISOString(),
  });
const inMinutes = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

async function failure(chain: CredentialChain): Promise<StoreError> {
  return chain.get().then(
    () => new StoreError('invalid', 'no failure'),
    (error: StoreError) => error,
  );
}

t.test('the environment comes first', async (t) => {
  const environment = bare(t, { ...KEYS, AWS_SESSION_TOKEN: 'token-env', AWS_PROFILE: 'p' });
  t.match(await new CredentialChain(environment).get(), {
    accessKeyId: 'AKENV',
    secretAccessKey: 'secret-env',
    sessionToken: 'token-env',
  });
  t.match(await new CredentialChain(bare(t, { ...KEYS, AWS_SESSION_TOKEN: '' })).get(), { sessionToken: undefined });
});

t.test('nothing anywhere is `denied`, with the next step', async (t) => {
  const error = await failure(new CredentialChain(bare(t)));
  t.match(error, { fault: 'denied', message: /AWS_ACCESS_KEY_ID/u });
});

t.test('a profile of the shared files', async (t) => {
  const home = newFolder(t);
  write(
    join(home, '.aws/credentials'),
    '# comment\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=secret/a+b=\n\n' +
      '[ work ]\naws_access_key_id=AKWORK ; comment\naws_secret_access_key = secret-work\naws_session_token = token-work\n',
  );
  write(
    join(home, '.aws/config'),
    '[profile sso]\nsso_session = x\n[profile   cfg]\naws_access_key_id=AKCFG\naws_secret_access_key=s\n',
  );
  const get = (more: Environment) => new CredentialChain({ ...bare(t), HOME: home, ...more }).get();
  t.match(await get({}), { accessKeyId: 'AKDEFAULT', secretAccessKey: 'secret/a+b=', sessionToken: undefined });
  t.match(await get({ AWS_PROFILE: 'work' }), { accessKeyId: 'AKWORK', sessionToken: 'token-work' });
  t.match(await get({ AWS_PROFILE: 'cfg' }), { accessKeyId: 'AKCFG' });
  t.match(await failure(new CredentialChain({ ...bare(t), HOME: home, AWS_PROFILE: 'sso' })), {
    fault: 'denied',
    message: /"sso".*not supported/u,
  });
  const elsewhere = write(join(home, 'elsewhere'), '[default]\naws_access_key_id=AKELSE\naws_secret_access_key=s\n');
  t.match(await get({ AWS_SHARED_CREDENTIALS_FILE: elsewhere }), { accessKeyId: 'AKELSE' });
});

t.test('a role for a web identity token', async (t) => {
  const sts = await startEndpoint(t);
  const end = inMinutes(60);
  sts.answers.set(
    'POST /',
    '<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult>' +
      `<Credentials><AccessKeyId>AKSTS</AccessKeyId><SecretAccessKey>s&amp;s</SecretAccessKey><SessionToken>tok</SessionToken>` +
      `<Expiration>${end.toISOString()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
  );
  const environment = bare(t, {
    AWS_WEB_IDENTITY_TOKEN_FILE: write(join(newFolder(t), 'token'), 'signed.token\n'),
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
    AWS_ENDPOINT_URL_STS: sts.url,
  });
  t.same(await new CredentialChain(environment).get(), {
    accessKeyId: 'AKSTS',
    secretAccessKey: 's&s',
    sessionToken: 'tok',
    expiration: end,
  });
  t.same(Object.fromEntries(new URLSearchParams(sts.requests[0]?.body)), {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: 'arn:aws:iam::1:role/r',
    RoleSessionName: 'sluice',
    WebIdentityToken: 'signed.token',
  });
  sts.answers.clear();
  const refused = await failure(new CredentialChain(environment));
  t.match(refused, { fault: 'denied', message: /token service answered 404/u });
  t.notMatch(refused.message, /signed\.token|secret/u);
});

t.test('the endpoint of a container', async (t) => {
  const agent = await startEndpoint(t);
  agent.answers.set('GET /creds', json('AKECS', inMinutes(60)));
  const file = write(join(newFolder(t), 'auth'), 'Bearer file\n');
  const full = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/creds` };
  t.match(await new CredentialChain(bare(t, { ...full, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'plain' })).get(), {
    accessKeyId: 'AKECS',
    sessionToken: 'token-AKECS',
  });
  await new CredentialChain({
    ...bare(t),
    ...full,
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: write(file, 'Bearer f\n'),
  }).get();
  t.same(
    agent.requests.map(({ headers }) => headers.authorization),
    ['plain', 'Bearer f'],
  );
  const foreign = bare(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://evil.example/creds' });
  t.match(await failure(new CredentialChain(foreign)), { fault: 'denied' });
});

t.test('the role of an instance', async (t) => {
  const imds = await startEndpoint(t);
  const folder = '/latest/meta-data/iam/security-credentials/';
  imds.answers.set('PUT /latest/api/token', 'imds-token');
  imds.answers.set(`GET ${folder}`, 'role-name\n');
  imds.answers.set(`GET ${folder}role-name`, json('AKEC2', inMinutes(60)));
  const environment = { HOME: newFolder(t), AWS_EC2_METADATA_SERVICE_ENDPOINT: imds.url };
  t.match(await new CredentialChain(environment).get(), { accessKeyId: 'AKEC2' });
  t.same(
    imds.requests.map(({ headers }) => headers['x-aws-ec2-metadata-token']),
    [undefined, 'imds-token', 'imds-token'],
  );
});

t.test('temporary credentials are renewed before they end, once for all callers', async (t) => {
  const agent = await startEndpoint(t);
  const chain = new CredentialChain(bare(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/creds` }));
  agent.answers.set('GET /creds', json('AK1', inMinutes(4)));
  t.same(
    (await Promise.all([chain.get(), chain.get(), chain.get()])).map(({ accessKeyId }) => accessKeyId),
    ['AK1', 'AK1', 'AK1'],
  );
  t.equal(agent.requests.length, 1);
  agent.answers.clear();
  t.match(await chain.get(), { accessKeyId: 'AK1' }, 'the endpoint fails: the old ones are still valid');
  agent.answers.set('GET /creds', json('AK2', inMinutes(60)));
  const renewed = await chain.get();
  t.match(renewed, { accessKeyId: 'AK2' });
  const asked = agent.requests.length;
  t.equal(await chain.get(), renewed);
  t.equal(agent.requests.length, asked, 'known until shortly before the end');
  chain.forget(renewed);
  agent.answers.set('GET /creds', json('AK3', inMinutes(60)));
  t.match(await chain.get(), { accessKeyId: 'AK3' }, 'the store refused them');
});

t.test('credentials that have ended are not used, even when there are no others', async (t) => {
  const agent = await startEndpoint(t);
  const chain = new CredentialChain(bare(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/creds` }));
  agent.answers.set('GET /creds', json('AK1', inMinutes(-1)));
  t.match(await chain.get(), { accessKeyId: 'AK1' }, 'the store decides, its clock may differ');
  agent.answers.clear();
  t.match(await failure(chain), { fault: 'denied' });
});

t.test('a late refusal of old credentials does not discard the new ones', async (t) => {
  const agent = await startEndpoint(t);
  const chain = new CredentialChain(bare(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/creds` }));
  agent.answers.set('GET /creds', json('AK1', inMinutes(60)));
  const old = await chain.get();
  chain.forget(old);
  const renewed = await chain.get();
  const asked = agent.requests.length;
  chain.forget(old);
  t.equal(await chain.get(), renewed);
  t.equal(agent.requests.length, asked);
});

t.test('an answer without keys is `unavailable`', async (t) => {
  const agent = await startEndpoint(t);
  const chain = new CredentialChain(bare(t, { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent.url}/creds` }));
  for (const body of [
    '',
    'null',
    '[]',
    '{"AccessKeyId":"a"}',
    json('AK', inMinutes(5)).replace(/"Expiration":"[^"]*"/u, '"Expiration":"x"'),
  ]) {
    agent.answers.set('GET /creds', body);
    t.match(await failure(chain), { fault: 'unavailable' }, body.slice(0, 20));
  }
});
