/** `sluice bench`: measures this installation with requests of known content. */
import { parseDuration } from '../config/units.ts';
import { findPostgresOptions } from '../daemon/configured-database.ts';
import { findMetricsUrl } from '../daemon/endpoint.ts';
import { UserError } from '../errors.ts';
import type { Administration } from '../extensions/postgres/administration.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { FreshRequests } from './bench/requests.ts';
import { findingsAsData, findingsAsText, findingsOf, shortfallOf } from './bench/report.ts';
import { type LoadPlan, type Run, runLoad, type Step } from './bench/run-load.ts';
import { KINDS, makeTraceRequest } from './bench/trace-request.ts';
import type { Call, Command, ExitCode } from './command.ts';
import { commandLine } from './command-line.ts';
import { withDatabase } from './database.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { post, refused, type Target, TARGET_OPTIONS, withTarget } from './otlp-target.ts';
import { boundUrl } from './running-daemon.ts';
import { formatCount } from './view/format.ts';
import { asJson } from './view/screen-text.ts';

const OWN_PROJECT = 'bench';
const LABEL = 'bench';
/** Different bodies. Their content repeats after as many requests. */
const BODIES = 4;
const MOST_SPANS = 10_000;
const MOST_CONNECTIONS = 1024;
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u;

export const command: Command = {
  description: `Sends spans with new trace ids, as gzip over connections that stay open: first as fast as they are stored, then at parts\nof that rate. A time counts from when its request was due, also when all connections are busy. The figures include the\nload of the generator when it runs on the same machine. It fails when\nmore than 1 of 100 requests are not stored at --rate, or are not answered without --rate.\n\nThe spans are stored: in the project ${OWN_PROJECT}, which is created, or in that of the key. The report names the command\nthat removes them. Without --yes, it stores nothing on other machines, with a given key, or in another project that has\nspans.`,
  options: {
    ...TARGET_OPTIONS,
    project: { ...TARGET_OPTIONS.project, default: OWN_PROJECT },
    environment: textOption('NAME', 'The environment of the spans', { short: 'e', default: 'bench' }),
    kind: textOption('KIND', 'model-calls with prompts and answers, small-spans, or mix: a model call in four spans', {
      default: 'mix',
    }),
    'spans-per-request': textOption('N', 'Spans of a request', { default: '64' }),
    connections: textOption('N', 'Most requests at the same time', { default: '16' }),
    duration: textOption('TIME', 'Of the warm-up and of each step', { default: '10s' }),
    rate: textOption('N', 'Spans a second, in one step', { otherwise: 'steps to find the peak' }),
    yes: flagOption('Store the spans there in any case', { short: 'y' }),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice bench', 'the daemon on this machine, in about a minute'],
    ['sluice bench --kind model-calls --rate 2000 --duration 60s', 'a fixed rate'],
    ['sluice bench --endpoint https://otlp.example.org --key "$SLUICE_KEY" --yes', 'another machine'],
  ],
  async run(call) {
    const settings = settingsOf(call.values);
    const stopping = new AbortController();
    const { signal } = stopping;
    let release = (): void => undefined;
    // From the moment at which there is something to remove: the report names the command for that.
    const stopAtSignal = (): void => {
      release = call.earlyEnd.stopAtSignal(() => stopping.abort());
    };
    const chooseProject = async (administration: Administration, endpoint: string): Promise<string> => {
      const isMissing = await lacksProject(call, administration, endpoint);
      stopAtSignal();
      if (isMissing) await administration.createProject(OWN_PROJECT, 'paid', null);
      return call.values.word('project');
    };
    try {
      return await withTarget(call, { label: LABEL, chooseProject }, async (target) => {
        if (target.own === null) {
          requireConsent(call, target.endpoint, 'the spans are stored in the project of the key');
          stopAtSignal();
        }
        return withReadings(call, target, (database) => measure(call, target, { settings, database, signal }));
      });
    } finally {
      release();
    }
  },
};

interface Settings {
  readonly kind: string;
  readonly spansPerRequest: number;
  readonly connections: number;
  readonly milliseconds: number;
  readonly rate: number | null;
}

function settingsOf(values: Values): Settings {
  const kind = values.word('kind');
  if (!KINDS.has(kind))
    throw new UsageError(`--kind cannot be ${kind}`, `Use one of: ${[...KINDS.keys()].join(', ')}.`);
  const milliseconds = parseDuration(values.word('duration'));
  if (milliseconds === null || milliseconds <= 0) throw new UsageError('--duration takes a time, such as 10s');
  return {
    kind,
    milliseconds,
    spansPerRequest: wholeNumber(values, 'spans-per-request', MOST_SPANS),
    connections: wholeNumber(values, 'connections', MOST_CONNECTIONS),
    rate: values.text('rate') === undefined ? null : wholeNumber(values, 'rate', Number.MAX_SAFE_INTEGER),
  };
}

function wholeNumber(values: Values, name: string, most: number): number {
  const text = values.word(name);
  const number = /^\d+$/u.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= most) return number;
  const limit = most === Number.MAX_SAFE_INTEGER ? 'greater than 0' : `from 1 to ${most}`;
  throw new UsageError(`--${name} takes a whole number ${limit}, not "${text}"`);
}

/** Whether the own project must be created. The project does not have foreign spans, unless the caller consents. */
async function lacksProject(call: Call, administration: Administration, endpoint: string): Promise<boolean> {
  const name = call.values.word('project');
  const known = (await administration.listProjects()).find((project) => project.name === name);
  const spans = name === OWN_PROJECT ? 0 : (known?.spansThisMonth ?? 0);
  requireConsent(call, endpoint, spans === 0 ? null : `the project ${name} has ${formatCount(spans)} spans`);
  return (known?.createdAt ?? null) === null && name === OWN_PROJECT;
}

function requireConsent({ values }: Call, endpoint: string, reason: string | null): void {
  if (values.flag('yes')) return;
  const other = LOOPBACK.test(new URL(endpoint).hostname) ? null : `${endpoint} is another machine`;
  const why = [other, reason].filter((each) => each !== null).join(', and ');
  if (why !== '')
    throw new UsageError(`${why}`, 'A benchmark stores many spans and uses all capacity. Confirm with --yes.');
}

/** The database of the daemon, if the configuration has one that can be opened. */
async function withReadings(
  call: Call,
  { own, config }: Target,
  work: (database: Database | null) => Promise<ExitCode>,
): Promise<ExitCode> {
  if (own !== null) return work(own.database);
  if (config === null || findPostgresOptions(config) === null) return work(null);
  let isOpen = false;
  try {
    return await withDatabase(call, 'read', (database) => {
      isOpen = true;
      return work(database);
    });
  } catch (error) {
    if (isOpen || !(error instanceof UserError)) throw error;
    call.terminal.say(`The database is not measured: ${error.message}`);
    return work(null);
  }
}

interface Measurement {
  readonly settings: Settings;
  readonly database: Database | null;
  /** Ends the load early. */
  readonly signal: AbortSignal;
}

async function measure(call: Call, target: Target, { settings, database, signal }: Measurement): Promise<ExitCode> {
  const { values, terminal } = call;
  const { endpoint, key, config } = target;
  // A request without records is invalid, and stores nothing. The key is checked before.
  const probe = await post(`${endpoint}/v1/traces`, key, '{"resourceSpans":[]}');
  if (probe.status !== 400) throw refused(endpoint, '/v1/traces', probe.status, probe.text);
  const isJson = values.flag('json');
  const removal = removalOf(call, target);
  const release = call.earlyEnd.prepare(() => terminal.say(`Spans may be stored. Remove them: ${removal}`));
  try {
    const configured = config === null ? null : findMetricsUrl(config);
    const metricsUrl = await boundUrl(call, configured, ({ metrics }) => metrics).catch(() => null);
    const run = await runLoad({
      ...settings,
      ...{ endpoint, key, signal },
      requests: requestsOf(call, settings),
      sources: { metricsUrl, database },
      report: (step) => sayStep(call, step),
    });
    const { aborted } = signal;
    const last = run.steps.at(-1);
    const isComplete = !aborted && last?.stored !== 0;
    const isEmbedded = config !== null && findPostgresOptions(config)?.url === '';
    const findings = findingsOf(run, isEmbedded, isComplete);
    const failure = aborted || last === undefined ? null : failureOf(endpoint, run, last);
    if (isJson)
      terminal.print(asJson({ endpoint, ...describe(call, target, settings), ...findingsAsData(findings), removal }));
    else if (last === undefined) {
      const project = target.own?.project === OWN_PROJECT ? ` Remove the project: ${terminal.style.cyan(removal)}` : '';
      terminal.print(`Nothing was stored.${project}`);
    } else if (run.spansStored > 0 || failure === null) {
      const stored = `The ${formatCount(run.spansStored)} spans are stored.`;
      terminal.print(`${findingsAsText(findings)}\n\n${stored} Remove them: ${terminal.style.cyan(removal)}`);
    }
    if (failure !== null) throw failure;
    return isComplete ? 0 : 1;
  } finally {
    release();
  }
}

function requestsOf({ values }: Call, { kind, spansPerRequest }: Settings): LoadPlan['requests'] {
  const shape = { kind, spans: spansPerRequest, environment: values.word('environment'), nowMs: Date.now() };
  const bodies = Array.from({ length: BODIES }, (_, index) => makeTraceRequest(shape, `body ${index}`));
  return new FreshRequests(bodies, 'gzip');
}

function sayStep({ terminal }: Call, { load, stored, p99 }: Step): void {
  terminal.say(
    `${load}: ${formatCount(Math.round(stored))} spans a second, p99 ${p99 === null ? '-' : p99.toFixed(0)} ms`,
  );
}

/** Null when the requests were answered, and stored at a given rate. */
function failureOf(endpoint: string, { steps, spansStored }: Run, last: Step): UserError | null {
  if (spansStored === 0) return nothingStored(endpoint, last);
  const shortfall = shortfallOf(steps);
  return shortfall === null
    ? null
    : new UserError(shortfall, `${last.load === 'rate' ? 'Lower --rate, or see' : 'See'} the log of the daemon.`);
}

function nothingStored(endpoint: string, { answers }: Step): UserError {
  const [status = 'none'] = Object.keys(answers);
  if (status === 'none') return new UserError(`${endpoint} no longer answers`, 'See the log of the daemon.');
  return refused(endpoint, '/v1/traces', Number(status), '');
}

function describe({ values }: Call, { own }: Target, settings: Settings): object {
  return {
    project: own?.project ?? null,
    environment: values.word('environment'),
    kind: settings.kind,
    spans_per_request: settings.spansPerRequest,
    connections: settings.connections,
    step_seconds: settings.milliseconds / 1000,
  };
}

/** The command that removes what was stored. */
function removalOf(call: Call, { own }: Target): string {
  const project = own?.project ?? '<PROJECT>';
  const part = project === OWN_PROJECT ? '' : ` --environment ${call.values.word('environment')}`;
  return commandLine(call, `prune --project ${project}${part}`);
}
