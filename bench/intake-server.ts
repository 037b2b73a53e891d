/**
 * The server of the intake benchmark: one of several implementations of OTLP/HTTP, in another process, so that its
 * processor time is separate from the client's. `intake.ts` starts it. It sends its port, then answers `cpu` with the
 * seconds used so far.
 */
import { createServer } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Logger } from '../src/component/logger.ts';
import { letHeapGrow } from '../src/daemon/heap.ts';
import { COMPONENTS } from '../src/components.ts';
import { loadConfig } from '../src/config/load.ts';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../src/pdata/layout.ts';
import { Service } from '../src/service/service.ts';
import { makePipelines } from '../src/service/make-pipeline.ts';
import { Registry } from '../src/service/telemetry/registry.ts';
import { loadProtos } from '../test/support/protos.ts';
import { Baseline } from './baseline.ts';
import { discard } from './discard.ts';

const CONFIG = (processors: string, format: string, privacy: string): string => `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" }, grpc: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth: { keys: [ { key: benchmark-key-0123456789, project: bench } ] }
  environment: {}
  ${processors.includes('privacy') ? `privacy: ${privacy}\n  normalization: {}\n  pricing: {}` : ''}
exporters: { discard: { format: ${format} } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &p { receivers: [otlp], processors: [${processors}], exporters: [discard] }
    logs: *p
    metrics: *p
`;

const QUIET: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: (fields, message) => console.error(message, fields),
};

interface Ports {
  readonly port: number;
  /** Null without gRPC. */
  readonly grpc: number | null;
}

async function startSluice(processors: string, format: string, privacy: string): Promise<Ports> {
  letHeapGrow();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const path = join(folder, 'bench.yaml');
  writeFileSync(path, CONFIG(processors, format, privacy));
  const config = await loadConfig({
    files: [path],
    definitions: [...COMPONENTS, discard],
    workingDirectory: folder,
    environment: {},
  });
  const registry = new Registry();
  const endpoints = new Map<string, string>();
  const logger: Logger = {
    ...QUIET,
    info: (fields, message) => void ('endpoint' in fields && endpoints.set(message, String(fields.endpoint))),
  };
  const service = new Service(config, {
    logger,
    loggerFor: () => logger,
    meter: registry,
    makePipeline: makePipelines(logger, registry, Date.now),
    now: Date.now,
    process,
    resolvePath: (name) => join(folder, name),
    fatal: (error) => {
      throw error;
    },
  });
  await service.start();
  const portOf = (protocol: string): number =>
    Number(endpoints.get(`listening for OTLP/${protocol}`)?.split(':').at(-1));
  return { port: portOf('HTTP'), grpc: portOf('gRPC') };
}

/**
 * The baseline: node:http, gunzip, the decoder of a library, rows by JSON.stringify. No checks other than the
 * library's.
 */
function startBaseline(): Promise<Ports> {
  const baseline = new Baseline(loadProtos());
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const raw = Buffer.concat(chunks);
      const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
      const signal =
        request.url === '/v1/logs' ? SIGNAL_LOGS : request.url === '/v1/metrics' ? SIGNAL_METRICS : SIGNAL_TRACES;
      const json = request.headers['content-type'] === 'application/json';
      const rows = json ? baseline.json(signal, body) : baseline.protobuf(signal, body);
      response
        .writeHead(200, { 'content-type': request.headers['content-type'] ?? '' })
        .end(rows.length > 0 ? (json ? '{}' : '') : '');
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve({ port: typeof address === 'object' && address !== null ? address.port : 0, grpc: null });
    });
  });
}

const [mode = 'sluice', processors = 'auth, environment', format = 'ndjson', privacy = '{}'] = process.argv.slice(2);
const ports = mode === 'baseline' ? await startBaseline() : await startSluice(processors, format, privacy);
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuSeconds: (user + system) / 1e6, rssMiB: process.memoryUsage.rss() / 1048576 });
});
process.send?.(ports);
