/** A stock OpenTelemetry Collector as a process, with the configuration of this repository. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './executable.ts';

const CONFIG = fileURLToPath(new URL('../../../config/otelcol.yaml', import.meta.url));
/** The lines of the configuration that the contrib distribution needs to keep its queue on disk. */
const ABOUT_STORAGE =
  /^( *)# (storage: file_storage|extensions:.*| {2}file_storage:| {4}(?:directory|create_directory|fsync): .*)$/gm;
const STORAGE_LINES = 7;

export interface CollectorOptions {
  /** The executable that `scripts/collector.js` built. */
  readonly executable: string;
  readonly folder: string;
  /** The endpoint of Sluice. */
  readonly endpoint: string;
  readonly key: string;
  /** Separates the queues of two Collectors in one folder. */
  readonly name?: string;
  /** Replaces parts of the configuration; YAML. */
  readonly overrides?: string;
}

export interface Collector {
  /** The URL of its OTLP receiver. */
  readonly url: string;
  readonly log: { text: string };
  /** A metric of the Collector, summed over labels; zero before the first event. */
  metric(name: string): Promise<number>;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** A Collector that is started again with the same options and ports has the same queue. */
export async function startCollector(
  options: CollectorOptions,
  ports: { readonly http: number; readonly metrics: number },
): Promise<Collector> {
  const paths = await writeConfigs(options, ports);
  const child = spawn(
    options.executable,
    paths.flatMap((path) => ['--config', path]),
    {
      env: {
        ...process.env,
        SLUICE_ENDPOINT: options.endpoint,
        SLUICE_KEY: options.key,
        OTELCOL_QUEUE: join(options.folder, options.name ?? 'queue'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const log = { text: '' };
  await untilReady(child, log);
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    url: `http://127.0.0.1:${ports.http}`,
    log,
    metric: (name) => readMetric(ports.metrics, name),
    end: (signal) => {
      child.kill(signal);
      return closed;
    },
  };
}

export async function collectorPorts(): Promise<{ readonly http: number; readonly metrics: number }> {
  return { http: await freePort(), metrics: await freePort() };
}

async function writeConfigs(
  { folder, name = 'queue', overrides = '{}' }: CollectorOptions,
  ports: { readonly http: number; readonly metrics: number },
): Promise<readonly string[]> {
  const offered = await readFile(CONFIG, 'utf8');
  const found = offered.match(ABOUT_STORAGE)?.length ?? 0;
  if (found !== STORAGE_LINES) throw new Error(`${found} lines about storage in config/otelcol.yaml`);
  const texts = [
    offered.replace(ABOUT_STORAGE, '$1$2'),
    `receivers: { otlp: { protocols: { grpc: { endpoint: "127.0.0.1:0" }, http: { endpoint: "127.0.0.1:${ports.http}" } } } }
service:
  telemetry:
    # Every line, or what a test looks for may be among those left out.
    logs: { sampling: { enabled: false } }
    metrics:
      readers: [ { pull: { exporter: { prometheus: { host: 127.0.0.1, port: ${ports.metrics} } } } } ]
`,
    overrides,
  ];
  const paths = texts.map((_, index) => join(folder, `${name}-${index}.yaml`));
  await Promise.all(paths.map((path, index) => writeFile(path, texts[index] ?? '')));
  return paths;
}

function untilReady(child: ChildProcess, log: { text: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const note = (chunk: Buffer): void => {
      log.text += chunk.toString();
      if (log.text.includes('Everything is ready')) resolve();
    };
    child.stdout?.on('data', note);
    child.stderr?.on('data', note);
    child.once('close', (code) => reject(new Error(`the Collector ended with ${code}: ${log.text.slice(-2000)}`)));
  });
}

async function readMetric(port: number, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name}_total{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
