/** A whole service in this process, from YAML, on a free port. Most tests over a real socket start one. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Definition } from '../../src/component/definition.ts';
import type { ListeningSockets } from '../../src/net/listener.ts';
import type { Logger } from '../../src/component/logger.ts';
import { COMPONENTS } from '../../src/components.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { makePipelines } from '../../src/service/make-pipeline.ts';
import { Service } from '../../src/service/service.ts';
import { Registry } from '../../src/service/telemetry/registry.ts';
import { PATIENCE_MS } from './patience.ts';

interface Teardown {
  teardown(task: () => Promise<void>): unknown;
}

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Daemon {
  /** `http://127.0.0.1:port` of the OTLP receiver; https with TLS. */
  readonly url: string;
  readonly port: number;
  /** `127.0.0.1:port` of OTLP/gRPC, if configured. */
  readonly grpc: string;
  readonly folder: string;
  readonly service: Service;
  readonly registry: Registry;
  readonly log: readonly LogLine[];
  /** The rows of the file exporter, parsed; 64-bit integers beyond 2^53 lose digits here. */
  rows(): Promise<readonly Record<string, unknown>[]>;
  /** The file exporter's bytes. */
  file(): Promise<string>;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  /** Replaces parts of the default configuration; `{folder}` is replaced by the test's folder. */
  readonly config: string;
  readonly definitions?: readonly Definition[];
  /** The environment of the configuration and of the process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly now?: () => number;
  readonly fatal?: (error: Error) => void;
  /** The sockets of another daemon of this process, to take over its endpoints. */
  readonly sockets?: ListeningSockets;
}

/** Shared by all services of a process, because their compilation takes most of a start. */
const SCHEMAS = new CompiledSchemas();

export const KEY = 'test-key-0123456789';
export const OTHER_KEY = 'other-key-0123456789';
export const STAGING_KEY = 'staging-key-0123456789';
export const FREE_KEY = 'free-key-0123456789';

/** What these keys may do: the option `keys` of `auth`, as lines of YAML. */
export const STATIC_KEYS = `      - { key: ${KEY}, project: demo }
      - { key: ${OTHER_KEY}, project: other }
      - { key: ${STAGING_KEY}, project: demo, environment: staging }
      - { key: ${FREE_KEY}, project: free, plan: free, monthly_spans: 10 }`;

/** Static keys, a file exporter, the memory ledger; no database. */
export const FILE_CONFIG = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth:
    keys:
${STATIC_KEYS}
  environment: {}
exporters: { file: { path: "{folder}/out.ndjson" } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] }
    logs: { receivers: [otlp], processors: [auth, environment], exporters: [file] }
    metrics: { receivers: [otlp], processors: [auth, environment], exporters: [file] }
`;

export async function startDaemon(t: Teardown, options: DaemonOptions = { config: FILE_CONFIG }): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-daemon-'));
  const path = join(folder, 'sluice.yaml');
  await writeFile(path, options.config.replaceAll('{folder}', folder));
  const config = await loadConfig({
    files: [path],
    definitions: options.definitions ?? COMPONENTS,
    workingDirectory: folder,
    environment: options.env ?? {},
    schemas: SCHEMAS,
  });
  const log: LogLine[] = [];
  const logger = capturing(log);
  const registry = new Registry();
  const now = options.now ?? Date.now;
  const service = new Service(config, {
    logger,
    loggerFor: () => logger,
    meter: registry,
    makePipeline: makePipelines(logger, registry, now),
    now,
    process: {
      pid: process.pid,
      env: options.env ?? {},
      getuid: () => process.getuid?.() ?? 0,
      kill: (pid, signal) => process.kill(pid, signal),
    },
    ...(options.sockets === undefined ? {} : { sockets: options.sockets }),
    resolvePath: (name) => resolve(folder, name),
    fatal:
      options.fatal ??
      ((error) => {
        throw error;
      }),
  });
  const stop = async (): Promise<void> => service.stop(AbortSignal.timeout(PATIENCE_MS));
  t.teardown(async () => {
    await stop();
    await rm(folder, { recursive: true, force: true });
  });
  await service.start();
  const endpointOf = (protocol: string): string =>
    String(log.find(({ message }) => message === `listening for OTLP/${protocol}`)?.fields['endpoint']);
  const endpoint = endpointOf('HTTP');
  const tls = log.some(({ fields }) => fields['tls'] === true);
  const file = async (): Promise<string> => readFile(join(folder, 'out.ndjson'), 'utf8');
  return {
    url: `${tls ? 'https' : 'http'}://${endpoint}`,
    port: Number(endpoint.split(':').at(-1)),
    grpc: endpointOf('gRPC'),
    folder,
    service,
    registry,
    log,
    file,
    rows: async () => parseLines(await file()),
    stop,
  };
}

export function parseLines(text: string): readonly Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

function capturing(log: LogLine[]): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void log.push({ level, message, fields: { ...fields } });
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
