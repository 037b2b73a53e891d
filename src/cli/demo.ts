/** `sluice demo`: sends the telemetry of a small AI application like an SDK, and shows the commands that read it. */
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import type { Call, Command, ExitCode } from './command.ts';
import { commandLine } from './command-line.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';
import { withDatabase } from './database.ts';
import { findPostgresOptions } from '../daemon/configured-database.ts';
import { type Demo, makeDemo } from './demo-application.ts';
import type { DemoRequest } from './demo-otlp.ts';
import { SCALES } from './demo-day.ts';
import { sendScale } from './demo-scale.ts';
import { UsageError } from './options.ts';
import { findEndpoint } from '../daemon/endpoint.ts';
import { asJson, clean } from './view/screen-text.ts';

const DEFAULT_ENDPOINT = 'http://127.0.0.1:4318';
const DEFAULT_PROJECT = 'default';
const DEFAULT_ENVIRONMENT = 'demo';
const KEY_LABEL = 'demo';
const KEY_VARIABLE = 'SLUICE_KEY';
const REQUEST_TIMEOUT_MS = 15_000;
const SHOWN_ANSWER = 300;

export const demoCommand: Command = {
  description:
    'The key is --key, or else SLUICE_KEY. Without both, and with a database in the configuration, a key is created for\nthis use and revoked afterwards.\n\nWith --scale, a repeated run with the same seed sends the same records and those of the time since then. Spans are\nstored once; log records and metric points are stored again when the runs are more than an hour\napart. Ctrl-C stops after the request in flight.',
  options: {
    ...CONFIG_OPTIONS,
    endpoint: {
      type: 'text',
      value: 'URL',
      description: 'The URL of the daemon',
      otherwise: `as configured, else ${DEFAULT_ENDPOINT}`,
    },
    key: { type: 'text', value: 'KEY', description: 'The API key' },
    project: {
      type: 'text',
      short: 'p',
      value: 'NAME',
      description: 'The project of a key that is created for this use',
    },
    environment: {
      type: 'text',
      short: 'e',
      value: 'NAME',
      description: 'The environment of the telemetry',
      default: DEFAULT_ENVIRONMENT,
    },
    scale: {
      type: 'text',
      value: 'TIME',
      description:
        'Fill a project with the telemetry of an hour, day or week: services, users, errors, logs, metrics, and each night a trace of 10,000 spans',
      otherwise: 'one trace',
    },
    seed: {
      type: 'text',
      value: 'TEXT',
      description: 'Another seed makes other telemetry of the scale',
      default: 'sluice',
    },
    json: { type: 'flag', description: 'Print JSON' },
  },
  examples: [
    ['sluice demo', 'to the daemon on this machine'],
    ['sluice demo --scale day', 'the telemetry of a day'],
    ['sluice demo --endpoint https://otlp.example.org --key "$SLUICE_KEY"', 'to another'],
  ],
  async run(call) {
    const { values, process } = call;
    checkScale(values.text('scale'));
    const given = values.text('key') ?? process.env[KEY_VARIABLE] ?? '';
    const named = values.text('endpoint');
    if (named !== undefined && given !== '') return sendTelemetry(call, endpointOf(named), given);
    const config = await readConfig(call);
    const endpoint = endpointOf(named ?? findEndpoint(config) ?? DEFAULT_ENDPOINT);
    // Checked before a key is created, and before a database is started for that.
    await checkAlive(endpoint);
    return given !== '' ? sendTelemetry(call, endpoint, given) : withOwnKey(call, config, endpoint);
  },
};

function endpointOf(text: string): string {
  if (!/^https?:\/\//u.test(text) || !URL.canParse(text))
    throw new UserError(`"${text}" is not a URL`, `Use one as ${DEFAULT_ENDPOINT}.`);
  return text.replace(/\/+$/u, '');
}

async function checkAlive(endpoint: string): Promise<void> {
  const answer = await post(`${endpoint}/health`, null, null);
  if (answer.status !== 200)
    throw new UserError(
      `the server at ${endpoint} is not Sluice: /health answers ${answer.status}`,
      'Name the right one with --endpoint.',
    );
}

function withOwnKey(call: Call, config: Config, endpoint: string): Promise<ExitCode> {
  if (findPostgresOptions(config) === null)
    throw new UserError(
      'no API key',
      `Give one with --key or ${KEY_VARIABLE}; this configuration has no database in which to create one.`,
    );
  return withDatabase(call, 'write', async (database) => {
    const administration = new Administration(database);
    const project = call.values.text('project') ?? (await chooseProject(administration));
    const key = await administration.createKey(project, null, KEY_LABEL);
    try {
      return await sendTelemetry(call, endpoint, key.text);
    } finally {
      await administration.revokeKey(key.publicId);
    }
  });
}

async function chooseProject(administration: Administration): Promise<string> {
  const names = (await administration.listProjects()).map(({ name }) => name);
  if (names.includes(DEFAULT_PROJECT)) return DEFAULT_PROJECT;
  const [first] = names;
  if (first !== undefined) return first;
  await administration.createProject(DEFAULT_PROJECT, 'paid', null);
  return DEFAULT_PROJECT;
}

function checkScale(scale: string | undefined): void {
  if (scale !== undefined && !SCALES.has(scale))
    throw new UsageError(`--scale cannot be ${scale}`, `Use one of: ${[...SCALES.keys()].join(', ')}.`);
}

function sendTelemetry(call: Call, endpoint: string, key: string): Promise<ExitCode> {
  const send = (request: DemoRequest): Promise<number> => sendRequest(endpoint, key, request);
  const lengthMs = SCALES.get(call.values.text('scale') ?? '');
  return lengthMs === undefined ? sendDemo(call, endpoint, send) : sendScale(call, { endpoint, lengthMs, send });
}

/** Returns the length of the body. */
async function sendRequest(endpoint: string, key: string, { path, body }: DemoRequest): Promise<number> {
  const content = JSON.stringify(body);
  const { status, text } = await post(`${endpoint}${path}`, key, content);
  if (status !== 200) throw refused(endpoint, path, status, text);
  return content.length;
}

async function sendDemo(
  call: Call,
  endpoint: string,
  send: (request: DemoRequest) => Promise<number>,
): Promise<ExitCode> {
  const { values, terminal } = call;
  const demo = makeDemo(Date.now(), values.word('environment'));
  for (const request of demo.requests) await send(request);
  terminal.print(
    values.flag('json')
      ? asData(demo, endpoint)
      : describe(demo, endpoint, terminal.style.cyan(commandLine(call, `trace ${demo.traceId}`))),
  );
  return 0;
}

function asData({ traceId, conversation }: Demo, endpoint: string): string {
  return asJson({ endpoint, trace_id: traceId, conversation_id: conversation });
}

function describe({ content }: Demo, endpoint: string, next: string): string {
  return [`Sent to ${endpoint}, and stored:`, ...content.map((line) => `  ${line}`), '', `Show it:  ${next}`].join(
    '\n',
  );
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Sends a GET request when there is no body. */
async function post(url: string, key: string | null, body: string | null): Promise<Answer> {
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
  const code = String((reason as { code?: unknown }).code ?? '');
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
  return new UserError(`${origin} cannot be reached: ${clean(detail)}`, hint ?? 'Name another with --endpoint.');
}

const HINTS: ReadonlyMap<number, string> = new Map([
  [401, 'Give another key with --key; make one with `sluice key create`.'],
  [403, 'The key may write one environment only; name it with --environment.'],
  [404, 'Name the daemon with --endpoint, without /v1.'],
  [429, 'The monthly quota is used up; see `sluice project list`.'],
  [503, 'The daemon cannot store right now; its log says why.'],
]);

function refused(endpoint: string, path: string, status: number, text: string): UserError {
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
