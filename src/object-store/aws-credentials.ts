/**
 * The credentials of AWS, from where its own tools find them: environment, web identity, shared files, container and
 * instance endpoints, in this order. Temporary ones are renewed before they end. No message holds a value.
 */
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Credentials } from './aws-signature.ts';
import { encodeQuery } from './aws-signature.ts';
import { elementOf, type HttpCall, send, textOf } from './http-call.ts';
import { StoreError } from './object-store.ts';

/** The variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Credentials are renewed this long before they end. */
const RENEWAL_MS = 5 * 60 * 1000;
const STS_IDLE_MS = 10_000;
/** The endpoints of containers and instances are on the same machine. On another machine there is none. */
const LOCAL_IDLE_MS = 2_000;
const CONTAINER = 'http://169.254.170.2';
const INSTANCE = 'http://169.254.169.254';
/** Hosts that may be asked for credentials without TLS: this machine, and the agents of ECS and EKS. */
const LOCAL_HOSTS = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|169\.254\.170\.2|169\.254\.170\.23|\[fd00:ec2::23\])$/u;
const TOKEN_SECONDS = '21600';

export class CredentialChain {
  readonly #environment: Environment;
  #known: Credentials | null = null;
  #asking: Promise<Credentials> | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Throws `denied` when there are none, and `unavailable` when their source does not answer. */
  async get(): Promise<Credentials> {
    const known = this.#known;
    if (known !== null && leftOf(known) > RENEWAL_MS) return known;
    this.#asking ??= this.#find().finally(() => {
      this.#asking = null;
    });
    try {
      return (this.#known = await this.#asking);
    } catch (error) {
      if (known !== null && leftOf(known) > 0) return known;
      throw error;
    }
  }

  /** To be called when the store reports that they have ended or are unknown. The next call asks again. */
  forget(used: Credentials): void {
    if (this.#known === used) this.#known = null;
  }

  async #find(): Promise<Credentials> {
    for (const source of [fromEnvironment, fromWebIdentity, fromSharedFiles, fromContainer, fromInstance]) {
      const found = await source(this.#environment);
      if (found !== null) return found;
    }
    throw new StoreError(
      'denied',
      'no AWS credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, AWS_PROFILE, or give the machine a role',
    );
  }
}

const leftOf = ({ expiration }: Credentials): number =>
  expiration === undefined ? Number.POSITIVE_INFINITY : expiration.getTime() - Date.now();

async function fromEnvironment(environment: Environment): Promise<Credentials | null> {
  const accessKeyId = environment['AWS_ACCESS_KEY_ID'] ?? '';
  const secretAccessKey = environment['AWS_SECRET_ACCESS_KEY'] ?? '';
  if (accessKeyId === '' || secretAccessKey === '') return null;
  return { accessKeyId, secretAccessKey, sessionToken: environment['AWS_SESSION_TOKEN'] || undefined };
}

/** A role for a signed token in a file, as in Kubernetes. */
async function fromWebIdentity(environment: Environment): Promise<Credentials | null> {
  const path = environment['AWS_WEB_IDENTITY_TOKEN_FILE'];
  const role = environment['AWS_ROLE_ARN'];
  if (!path || !role) return null;
  const token = await secretFile(path);
  const region = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION'] || 'us-east-1';
  const body = encodeQuery([
    ['Action', 'AssumeRoleWithWebIdentity'],
    ['Version', '2011-06-15'],
    ['RoleArn', role],
    ['RoleSessionName', environment['AWS_ROLE_SESSION_NAME'] || 'sluice'],
    ['WebIdentityToken', token],
  ]);
  const xml = await ask('the token service', {
    method: 'POST',
    url: new URL(environment['AWS_ENDPOINT_URL_STS'] || `https://sts.${region}.${domainOf(region)}/`),
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': String(body.length) },
    body: Buffer.from(body),
    idleMs: STS_IDLE_MS,
  });
  return credentialsOf('the token service', {
    AccessKeyId: elementOf(xml, 'AccessKeyId'),
    SecretAccessKey: elementOf(xml, 'SecretAccessKey'),
    Token: elementOf(xml, 'SessionToken'),
    Expiration: elementOf(xml, 'Expiration'),
  });
}

/** The domain of AWS' services. */
export const domainOf = (region: string): string => (region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com');

type Settings = Readonly<Record<string, string>>;

async function fromSharedFiles(environment: Environment): Promise<Credentials | null> {
  const profile = await sharedProfile(environment);
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = profile;
  if (accessKeyId && secretAccessKey) {
    return { accessKeyId, secretAccessKey, sessionToken: profile['aws_session_token'] || undefined };
  }
  const name = environment['AWS_PROFILE'];
  if (!name) return null;
  // The operator named this source, so no other one is used.
  throw new StoreError(
    'denied',
    `the AWS profile ${JSON.stringify(name)} has no aws_access_key_id and aws_secret_access_key. Roles, SSO and ` +
      'credential_process in profiles are not supported: export their keys to the environment',
  );
}

/** What both shared files say about the profile. Absent files are empty. */
export async function sharedProfile(environment: Environment): Promise<Settings> {
  const name = environment['AWS_PROFILE'] || 'default';
  const folder = join(environment['HOME'] || homedir(), '.aws');
  const read = (path: string): Promise<string> => readFile(path, 'utf8').catch(() => '');
  const config = await read(environment['AWS_CONFIG_FILE'] || join(folder, 'config'));
  const secrets = await read(environment['AWS_SHARED_CREDENTIALS_FILE'] || join(folder, 'credentials'));
  return {
    ...sectionOf(config, name === 'default' ? ['default', 'profile default'] : [`profile ${name}`]),
    ...sectionOf(secrets, [name]),
  };
}

function sectionOf(text: string, names: readonly string[]): Settings {
  const found: Record<string, string> = {};
  let isWanted = false;
  for (const line of text.split(/\r?\n/u)) {
    const heading = /^\s*\[\s*([^\]]*?)\s*\]/u.exec(line)?.[1];
    if (heading !== undefined) isWanted = names.includes(heading.replace(/\s+/gu, ' '));
    // An indented line belongs to the setting above it, and a comment is no setting.
    const [, key, value] = /^([A-Za-z0-9_-]+)\s*=\s*(.*?)(?:\s+[#;].*)?\s*$/u.exec(line) ?? [];
    if (isWanted && key !== undefined && value !== undefined) found[key.toLowerCase()] = value;
  }
  return found;
}

/** The agent of ECS or EKS. */
async function fromContainer(environment: Environment): Promise<Credentials | null> {
  const relative = environment['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const full = environment['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
  const address = relative ? CONTAINER + relative : full;
  if (!address) return null;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || (url.protocol !== 'https:' && !LOCAL_HOSTS.test(url.hostname))) {
    throw new StoreError('denied', 'AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor on this machine');
  }
  const path = environment['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const token = path ? await secretFile(path) : environment['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const headers: Record<string, string> = token ? { authorization: token } : {};
  const json = await ask('the container endpoint', { method: 'GET', url, headers, idleMs: LOCAL_IDLE_MS });
  return credentialsOf('the container endpoint', jsonOf(json));
}

/** The role of a virtual machine (IMDSv2). A machine without the endpoint has no role. */
async function fromInstance(environment: Environment): Promise<Credentials | null> {
  if (environment['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') return null;
  const base = environment['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || INSTANCE;
  const call = (method: string, path: string, headers: Readonly<Record<string, string>>): HttpCall => ({
    method,
    url: new URL(path, base),
    headers,
    idleMs: LOCAL_IDLE_MS,
  });
  const what = 'the instance endpoint';
  const seconds = { 'x-aws-ec2-metadata-token-ttl-seconds': TOKEN_SECONDS, 'content-length': '0' };
  const token = await ask(what, call('PUT', '/latest/api/token', seconds)).catch(() => null);
  if (token === null) return null;
  const folder = '/latest/meta-data/iam/security-credentials/';
  const headers = { 'x-aws-ec2-metadata-token': token };
  const role = (await ask(what, call('GET', folder, headers))).trim();
  return credentialsOf(what, jsonOf(await ask(what, call('GET', folder + role, headers))));
}

async function secretFile(path: string): Promise<string> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    throw new StoreError('denied', `a file of AWS credentials cannot be read: ${(error as Error).message}`);
  }
}

/** The body of a 200. Messages hold the status, never the body or the headers. */
async function ask(what: string, call: HttpCall): Promise<string> {
  let status: number | undefined;
  try {
    const answer = await send(call);
    status = answer.statusCode;
    const text = await textOf(answer);
    if (status === 200) return text;
  } catch (error) {
    throw new StoreError('unavailable', `AWS credentials: ${what} did not answer: ${(error as Error).message}`);
  }
  const fault = status !== undefined && status >= 400 && status < 500 ? 'denied' : 'unavailable';
  throw new StoreError(fault, `AWS credentials: ${what} answered ${status}`);
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function credentialsOf(what: string, answer: Readonly<Record<string, unknown>>): Credentials {
  const { AccessKeyId, SecretAccessKey, Token, Expiration } = answer;
  const expiration = typeof Expiration === 'string' ? new Date(Expiration) : undefined;
  const isWhole = typeof AccessKeyId === 'string' && typeof SecretAccessKey === 'string';
  if (!isWhole || Number.isNaN(expiration?.getTime())) {
    throw new StoreError('unavailable', `AWS credentials: ${what} answered without keys`);
  }
  const sessionToken = typeof Token === 'string' ? Token : undefined;
  return { accessKeyId: AccessKeyId, secretAccessKey: SecretAccessKey, sessionToken, expiration };
}
