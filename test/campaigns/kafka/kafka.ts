/**
 * `otlp_http`, a stock Collector and a real Kafka broker: what Sluice has acknowledged is in Kafka at least once,
 * although the broker and the Collector are killed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { codeBlocks } from '../../docs/markdown.ts';
import { ask } from '../../support/connection.ts';
import { KEY } from '../../support/daemon.ts';
import { type Executable, freePort, openFolder, startExecutable, watchExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { loadProtos } from '../../support/protos.ts';

const collectorPath = process.env['SLUICE_COLLECTOR'] ?? '';
const kafkaLibraries = process.env['SLUICE_KAFKA'] ?? '';
if (collectorPath === '') t.bailout('SLUICE_COLLECTOR is not set to the path of the Collector');
if (kafkaLibraries === '') t.bailout('SLUICE_KAFKA is not set to the folder of the libraries of Kafka');
t.setTimeout(600_000);

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const GATEWAY = join(ROOT, 'config/gateway.yaml');
const COLLECTOR = join(ROOT, 'config/otelcol-kafka.yaml');
const [FORWARDING = ''] = codeBlocks(readFileSync(join(ROOT, 'docs/forwarding.md'), 'utf8'), 'yaml').filter((block) =>
  block.includes('otlp_http/kafka'),
);
const WAIT_MS = 180_000;
const REQUESTS = 40;
const SPANS_OF_TRACE = 5;
/** More than the broker and the Collector take, also compressed. */
const LARGE_BYTES = 1_500_000;

const folder = openFolder(t);
const database = await createDatabase(t);
const [brokerPort, controllerPort, collectorPort, metricsPort, port] = await Promise.all(
  Array.from({ length: 5 }, () => freePort()),
);
const brokers = `127.0.0.1:${brokerPort}`;
const running = new Set<Executable>();
t.teardown(async () => {
  for (const { child, ended } of running) {
    child.kill('SIGKILL');
    await ended;
  }
});

/** Resolves with the value, when there is one. */
async function until<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  const found = await waitFor(async () => look(), { timeoutMs: WAIT_MS });
  if (found === undefined) throw new Error(`never happened: ${what}`);
  return found;
}

function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Executable {
  const child = spawn(command, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const process_ = watchExecutable(child);
  running.add(process_);
  return process_;
}

async function end(process_: Executable): Promise<void> {
  process_.child.kill('SIGKILL');
  await process_.ended;
  running.delete(process_);
}

const canConnect = (to: number): Promise<true | undefined> =>
  new Promise((resolve) => {
    const socket = connect(to, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(undefined));
    socket.once('connect', () => socket.destroy());
  });

const CLASSES = join(kafkaLibraries, '*');
const SETTINGS = join(folder, 'server.properties');
writeFileSync(
  SETTINGS,
  `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://${brokers},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://${brokers}
controller.listener.names=CONTROLLER
log.dirs=${join(folder, 'kafka')}
num.partitions=3
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
`,
);
const formatted = spawnSync(
  'java',
  ['-cp', CLASSES, 'kafka.tools.StorageTool', 'format', '-t', randomBytes(16).toString('base64url'), '-c', SETTINGS],
  { encoding: 'utf8' },
);
if (formatted.status !== 0) throw new Error(`the folder of the broker: ${formatted.stdout}${formatted.stderr}`);

async function startBroker(): Promise<Executable> {
  const broker = run('java', ['-Xmx512m', '-cp', CLASSES, 'kafka.Kafka', SETTINGS]);
  await until('the broker listens', () => canConnect(brokerPort ?? 0));
  return broker;
}

async function startCollector(): Promise<Executable> {
  const overlay = join(folder, 'collector.yaml');
  writeFileSync(
    overlay,
    `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${collectorPort}" } } } }
service: { telemetry: { metrics: { readers: [ { pull: { exporter: { prometheus: { host: 127.0.0.1, port: ${metricsPort} } } } } ] } } }
`,
  );
  const collector = run(collectorPath, ['--config', COLLECTOR, '--config', overlay], { KAFKA_BROKERS: brokers });
  await collector.until('Everything is ready');
  return collector;
}

async function startSluice(): Promise<void> {
  const [forwarding, overlay] = [join(folder, 'forwarding.yaml'), join(folder, 'overlay.yaml')];
  writeFileSync(forwarding, FORWARDING);
  writeFileSync(
    overlay,
    `extensions: { postgres: { allow_unsafe: true }, health_check: { endpoint: "127.0.0.1:0" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors: { auth: { keys: [ { key: ${KEY}, project: demo } ] } }
exporters: { otlp_http/kafka: { endpoint: "http://127.0.0.1:${collectorPort}", retry_on_failure: { initial_interval: 100ms, max_interval: 1s } } }
service: { telemetry: { metrics: { enabled: false } } }
`,
  );
  const args = [GATEWAY, forwarding, overlay].flatMap((path) => ['--config', path]);
  const sluice = startExecutable(args, folder, { DATABASE_URL: database.url });
  running.add(sluice);
  await sluice.until('listening for OTLP/HTTP');
}

let broker = await startBroker();
let collector = await startCollector();
await startSluice();
const reader = run('java', ['-cp', CLASSES, join(ROOT, 'test/campaigns/kafka/Reader.java'), brokers]);

const sent = { spans: new Map<string, string>(), logs: new Set<string>(), points: new Set<string>() };

async function post(path: string, body: object): Promise<void> {
  const { status } = await send(`http://127.0.0.1:${port}`, { path, body: JSON.stringify(body) });
  if (status !== 200) throw new Error(`${path} was answered ${status}`);
}

/** A request of each signal: two traces, a log record of one of them, and a point. */
async function sendEach(name: string): Promise<void> {
  const spans: object[] = [];
  const traces = [newTraceId(), newTraceId()];
  for (const traceId of traces) {
    for (let index = 0; index < SPANS_OF_TRACE; index++) {
      const span = `${name} ${traceId} ${index}`;
      spans.push(aSpan({ traceId, name: span }));
      sent.spans.set(span, traceId);
    }
  }
  await post('/v1/traces', aTraceRequest(spans));
  await post(
    '/v1/logs',
    aLogRequest([{ timeUnixNano: '1763720000000000000', traceId: traces[0], body: { stringValue: name } }]),
  );
  sent.logs.add(name);
  await post('/v1/metrics', aMetricRequest([aGauge(name, 1)]));
  sent.points.add(name);
}

async function sendMany(what: string): Promise<void> {
  for (let index = 0; index < REQUESTS; index++) await sendEach(`${what} ${index}`);
}

interface Message {
  readonly topic: string;
  readonly partition: string;
  readonly key: string;
  readonly text: string;
}

const [TRACES, LOGS, METRICS] = [SIGNAL_TRACES, SIGNAL_LOGS, SIGNAL_METRICS].map((each) => loadProtos().requests[each]);
const TYPES = new Map([
  ['otlp_spans', TRACES],
  ['otlp_logs', LOGS],
  ['otlp_metrics', METRICS],
]);

/** The whole messages that the reader has printed. */
function messages(): readonly Message[] {
  const lines = reader.output.out.split('\n').slice(0, -1);
  return lines.map((line) => {
    const [topic = '', partition = '', key = '', value = ''] = line.split(' ');
    const decoded = TYPES.get(topic)?.decode(Buffer.from(value, 'base64'));
    return { topic, partition, key, text: JSON.stringify(decoded) };
  });
}

const namesIn = (topic: string, pattern: RegExp): ReadonlySet<string> =>
  new Set(
    messages().flatMap((each) =>
      each.topic === topic ? [...each.text.matchAll(pattern)].map(([, name = '']) => name) : [],
    ),
  );

async function requireAll(t: Test, what: string): Promise<void> {
  const missing = (): readonly string[] => {
    const found = {
      spans: namesIn('otlp_spans', /"name":"([^"]+ \w{32} \d+)"/gu),
      logs: namesIn('otlp_logs', /"stringValue":"([^"]+ \d+)"/gu),
      points: namesIn('otlp_metrics', /"name":"([^"]+ \d+)"/gu),
    };
    return [
      ...[...sent.spans.keys()].filter((name) => !found.spans.has(name)),
      ...[...sent.logs].filter((name) => !found.logs.has(name)),
      ...[...sent.points].filter((name) => !found.points.has(name)),
    ];
  };
  await until(`everything is in Kafka ${what}`, () => (missing().length === 0 ? true : undefined));
  t.same(missing(), [], `everything is in Kafka ${what}`);
  t.same(await ask(database.url, "SELECT FROM sluice.outbox WHERE state <> 'dead'"), [], 'nothing waits');
}

t.test('spans, log records and metric points are in Kafka', async (t) => {
  await sendMany('first');
  await requireAll(t, 'at first');
});

t.test('nothing is lost when the broker is killed', async (t) => {
  await end(broker);
  await sendMany('without a broker');
  const waiting = await ask(database.url, "SELECT FROM sluice.outbox WHERE state = 'waiting'");
  t.ok(waiting.length > 0, `${waiting.length} requests wait in the outbox`);
  broker = await startBroker();
  await requireAll(t, 'after the broker was killed');
});

t.test('nothing is lost when the Collector is killed', async (t) => {
  const sending = sendMany('while the Collector ends');
  await until('some have arrived', () =>
    [...namesIn('otlp_logs', /"stringValue":"(while [^"]+)"/gu)].length > 0 ? true : undefined,
  );
  await end(collector);
  await sending;
  collector = await startCollector();
  await requireAll(t, 'after the Collector was killed');
});

t.test('a message that is too large is a dead letter, and delays nothing', async (t) => {
  const large = aSpan({ name: 'large', attributes: { large: randomBytes(LARGE_BYTES).toString('base64') } });
  await post('/v1/traces', aTraceRequest([large]));
  await sendEach('behind the large one 0');
  await requireAll(t, 'behind a large one');
  const dead = await ask(database.url, "SELECT FROM sluice.outbox WHERE state = 'dead'");
  t.equal(dead.length, 1);
});

t.test('all spans of a trace are in one partition, under its id', async (t) => {
  const partitions = new Map<string, Set<string>>();
  for (const { topic, partition, key, text } of messages()) {
    if (topic !== 'otlp_spans') continue;
    const ids = new Set([...text.matchAll(/"name":"[^"]+ (\w{32}) \d+"/gu)].map(([, id = '']) => id));
    t.same([...ids], [Buffer.from(key, 'hex').toString()], 'a message has one trace');
    partitions.set(key, (partitions.get(key) ?? new Set()).add(partition));
  }
  t.equal(partitions.size, new Set(sent.spans.values()).size);
  t.ok([...partitions.values()].every((each) => each.size === 1));
  t.ok(new Set([...partitions.values()].flatMap((each) => [...each])).size > 1, 'more than one partition is used');
});
