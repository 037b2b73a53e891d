/** The daemon that a command sends telemetry to: its endpoint, and the given key or one made for this use. */
import { maskUrls } from '../component/masked-url.ts';
import type { Config } from '../config/config.ts';
import { findPostgresOptions } from '../daemon/configured-database.ts';
import { findEndpoint } from '../daemon/endpoint.ts';
import { errorCode, UserError } from '../errors.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Database } from '../extensions/postgres/database.ts';
import type { Call, Outcome } from './command.ts';
import { commandLine } from './command-line.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { withDatabase } from './database.ts';
import { textOption } from './options.ts';
import { boundUrl } from './running-daemon.ts';
import { clean } from './view/screen-text.ts';

const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318';
const KEY_VARIABLE = 'SLUICE_KEY';
const HEALTHY = /^\s*\{\s*"ok"/u;
const REQUEST_TIMEOUT_MS = 15_000;
const SHOWN_ANSWER = 300;

export const TARGET_OPTIONS = {
  ...CONFIG_OPTIONS,
  endpoint: textOption('URL', 'The URL of the daemon', { otherwise: `as configured, else ${DEFAULT_ENDPOINT}` }),
  key: textOption('KEY', 'The API key'),
  project: textOption('NAME', 'The project of a key that is created for this use', { short: 'p' }),
};

export interface Target {
  readonly endpoint: string;
  readonly key: string;
  /** Null when endpoint and key are given: the configuration may be that of another daemon. */
  readonly config: Config | null;
  /** The database and project of a key that was created for this use; null with a given key. */
  readonly own: { readonly database: Database; readonly project: string } | null;
}

/** What to read after sending, where the commands that read a database cannot show it; null where they can. */
export function withoutDatabase(call: Call, { config }: Target): string | null {
  if (config === null || findPostgresOptions(config) !== null) return null;
  const read = call.terminal.style.cyan(commandLine(call, 'explain FILE'));
  return `This configuration has no database. Read the file of its exporter, for example with  ${read}`;
}

export interface Purpose {
  /** The label of a key that is created. */
  readonly label: string;
  /** The project of that key. It must exist afterwards. */
  chooseProject(administration: Administration, endpoint: string): Promise<string>;
}

export async function withTarget(
  call: Call,
  purpose: Purpose,
  work: (target: Target) => Promise<Outcome>,
): Promise<Outcome> {
  const { values, process } = call;
  const given = values.text('key') ?? process.env[KEY_VARIABLE] ?? '';
  const named = values.text('endpoint');
  if (named !== undefined && given !== '')
    return work({ endpoint: endpointOf(named), key: given, config: null, own: null });
  const config = await readConfig(call);
  const configured = async (): Promise<string | null> => boundUrl(call, findEndpoint(config), ({ otlp }) => otlp?.http);
  const endpoint = endpointOf(named ?? (await configured()) ?? DEFAULT_ENDPOINT);
  // Checked before a key is created, and before a database is started for that.
  await checkAlive(endpoint);
  if (given !== '') return work({ endpoint, key: given, config, own: null });
  return withOwnKey(call, purpose, { config, work, endpoint });
}

function endpointOf(text: string): string {
  if (!/^https?:\/\//u.test(text) || !URL.canParse(text))
    throw new UserError(`"${text}" is not a URL`, `Use one as ${DEFAULT_ENDPOINT}.`);
  return text.replace(/\/+$/u, '');
}

async function checkAlive(endpoint: string): Promise<void> {
  const answer = await post(`${endpoint}/health`, null, null);
  const reason = answer.status === 200 ? 'with another text' : String(answer.status);
  // A console answers 200 with its page.
  if (answer.status !== 200 || !HEALTHY.test(answer.text))
    throw new UserError(
      `the server at ${endpoint} is not the OTLP/HTTP port of Sluice: /health answers ${reason}`,
      `Name the right one with --endpoint, as ${DEFAULT_ENDPOINT}.`,
    );
}

interface Undertaking {
  readonly config: Config;
  readonly endpoint: string;
  work(target: Target): Promise<Outcome>;
}

function withOwnKey(call: Call, purpose: Purpose, { config, endpoint, work }: Undertaking): Promise<Outcome> {
  if (findPostgresOptions(config) === null)
    throw new UserError(
      'no API key',
      `Give one with --key or ${KEY_VARIABLE}; this configuration has no database in which to create one.`,
    );
  return withDatabase(call, 'write', async (database) => {
    const administration = new Administration(database);
    const project = await purpose.chooseProject(administration, endpoint);
    const creating = administration.createKey(project, null, purpose.label);
    const revoke = async (): Promise<unknown> => administration.revokeKey((await creating).publicId);
    const release = call.earlyEnd.prepare(revoke);
    try {
      return await work({ endpoint, key: (await creating).text, config, own: { database, project } });
    } finally {
      await revoke().finally(release);
    }
  });
}

export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a GET request when there is no body. */
export async function post(url: string, key: string | null, body: string | null): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: body === null ? 'GET' : 'POST',
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(body === null ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      body,
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw unreachable(url, error);
  }
}

/** What a port of another protocol answers. */
const OTHER_PROTOCOLS: readonly (readonly [RegExp, string])[] = [
  [
    /HTTP_PARSER|HTTP\/1\.1|Expected HTTP|HPE_/u,
    'It does not speak HTTP/1.1; the port of OTLP/HTTP is 4318, of gRPC 4317.',
  ],
  [/wrong version number|EPROTO|packet length/u, 'It does not serve TLS; write http:// in --endpoint.'],
  [/other side closed|ECONNRESET|socket hang up/u, 'If it serves TLS, write https:// in --endpoint.'],
];

function unreachable(url: string, error: unknown): UserError {
  const { origin } = new URL(url);
  const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = errorCode(reason);
  if (code === 'ECONNREFUSED')
    return new UserError(
      `nothing listens at ${origin}`,
      'Start the daemon with `sluice`, or name another with --endpoint.',
    );
  const detail = reason instanceof Error ? reason.message : String(reason);
  if (/certificate|CERT/u.test(`${code} ${detail}`))
    return new UserError(
      `the certificate of ${origin} is not trusted: ${clean(detail)}`,
      'Name the file of its certificate authority in the environment: NODE_EXTRA_CA_CERTS=/path/ca.pem',
    );
  const hint = OTHER_PROTOCOLS.find(([mark]) => mark.test(`${code} ${detail}`))?.[1];
  return new UserError(
    `${origin} cannot be reached: ${clean(maskUrls(detail))}`,
    hint ?? 'Name another with --endpoint.',
  );
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, 'Give another key with --key; make one with `sluice key create`.'],
  [403, 'The key may write one environment only; name it with --environment.'],
  [404, 'Name the daemon with --endpoint, without /v1. It needs a pipeline of this signal.'],
  [429, 'The monthly quota is used up; see `sluice project list`.'],
  [503, 'The daemon cannot store right now; its log says why.'],
]);

/** The refusal of a request, with a hint for this command. */
export function refused(endpoint: string, path: string, status: number, text: string): UserError {
  const message = clean(messageOf(text)).slice(0, SHOWN_ANSWER);
  return new UserError(
    `${endpoint}${path} answered ${status}${message === '' ? '' : `: ${message}`}`,
    HINTS.get(status) ?? 'Nothing of this request was stored.',
  );
}

function messageOf(text: string): string {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'object' && answer !== null && 'message' in answer ? String(answer.message) : '';
  } catch {
    return text;
  }
}
