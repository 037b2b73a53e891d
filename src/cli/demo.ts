/** `sluice demo`: sends the telemetry of a small AI application like an SDK, and shows the commands that read it. */
import { FIRST_PROJECT } from '../daemon/daemon-host.ts';
import type { Administration } from '../extensions/postgres/administration.ts';
import type { Call, Command, Outcome } from './command.ts';
import { commandLine } from './command-line.ts';
import { type Demo, makeDemo } from './demo/application.ts';
import type { DemoRequest, Send } from './demo/otlp.ts';
import { SCALES } from './demo/day.ts';
import { sendScale } from './demo/scale.ts';
import { flagOption, textOption, UsageError } from './options.ts';
import { post, refused, type Target, TARGET_OPTIONS, withoutDatabase, withTarget } from './otlp-target.ts';
import { asJson } from './view/screen-text.ts';

const DEFAULT_ENVIRONMENT = 'demo';
const KEY_LABEL = 'demo';

export const command: Command = {
  description:
    'The key is --key, or else SLUICE_KEY. Without both, and with a database in the configuration, a key is created for\nthis use and revoked afterwards.\n\nWith --scale, a repeated run with the same seed sends the same records and those of the time since then. Spans are\nstored once; log records and metric points are stored again when the runs are more than an hour\napart. Ctrl-C stops after the request in flight.',
  options: {
    ...TARGET_OPTIONS,
    environment: textOption('NAME', 'The environment of the telemetry', { short: 'e', default: DEFAULT_ENVIRONMENT }),
    scale: textOption(
      'TIME',
      'Fill a project with the telemetry of an hour, day or week: services, users, errors, logs, metrics, and each night a trace of 10,000 spans',
      { otherwise: 'one trace' },
    ),
    seed: textOption('TEXT', 'Another seed makes other telemetry of the scale', { default: 'sluice' }),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice demo', 'to the daemon on this machine'],
    ['sluice demo --scale day', 'the telemetry of a day'],
    ['sluice demo --endpoint https://otlp.example.org --key "$SLUICE_KEY"', 'to another'],
  ],
  async run(call) {
    checkScale(call.values.text('scale'));
    const chooseProject = async (administration: Administration): Promise<string> =>
      call.values.text('project') ?? findProject(administration);
    return withTarget(call, { label: KEY_LABEL, chooseProject }, (target) => sendTelemetry(call, target));
  },
};

async function findProject(administration: Administration): Promise<string> {
  const created = (await administration.listProjects()).filter(({ createdAt }) => createdAt !== null);
  const names = created.map(({ name }) => name);
  if (names.includes(FIRST_PROJECT)) return FIRST_PROJECT;
  const [first] = names;
  if (first !== undefined) return first;
  await administration.createProject(FIRST_PROJECT, 'paid', null);
  return FIRST_PROJECT;
}

function checkScale(scale: string | undefined): void {
  if (scale !== undefined && !SCALES.has(scale))
    throw new UsageError(`--scale cannot be ${scale}`, `Use one of: ${[...SCALES.keys()].join(', ')}.`);
}

function sendTelemetry(call: Call, target: Target): Promise<Outcome> {
  const { endpoint, key } = target;
  const unreceived = new Set<string>();
  const send: Send = async (request) => {
    if (unreceived.has(request.path)) return null;
    const length = await sendRequest(endpoint, key, request);
    if (length !== null) return length;
    unreceived.add(request.path);
    call.terminal.say(`No pipeline receives ${request.path}, so this part is not sent.`);
    return null;
  };
  const lengthMs = SCALES.get(call.values.text('scale') ?? '');
  const instead = withoutDatabase(call, target);
  return lengthMs === undefined
    ? sendDemo(call, { endpoint, send, instead })
    : sendScale(call, { endpoint, lengthMs, send, instead });
}

/** Returns the length of the body; null for logs and metrics that have no pipeline. */
async function sendRequest(endpoint: string, key: string, { path, body }: DemoRequest): Promise<number | null> {
  const content = JSON.stringify(body);
  const { status, text } = await post(`${endpoint}${path}`, key, content);
  if (status === 404 && path !== '/v1/traces') return null;
  if (status !== 200) throw refused(endpoint, path, status, text);
  return content.length;
}

interface Sending {
  readonly endpoint: string;
  readonly send: Send;
  /** The last line of the output where there is no database. */
  readonly instead: string | null;
}

async function sendDemo(call: Call, { endpoint, send, instead }: Sending): Promise<void> {
  const { values, terminal } = call;
  const demo = makeDemo(Date.now(), values.word('environment'));
  const stored: string[] = [];
  for (const request of demo.requests) if ((await send(request)) !== null) stored.push(`  ${request.content}`);
  if (values.flag('json')) return terminal.print(asData(demo, endpoint));
  const next = instead ?? `Show it:  ${terminal.style.cyan(commandLine(call, `trace ${demo.traceId}`))}`;
  terminal.print([`Sent to ${endpoint}, and stored:`, ...stored, '', next].join('\n'));
}

function asData({ traceId, conversation }: Demo, endpoint: string): string {
  return asJson({ endpoint, trace_id: traceId, conversation_id: conversation });
}
