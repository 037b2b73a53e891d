/**
 * The measured process: a whole service with every processor and the redaction presets, which stores into a file,
 * PostgreSQL, or objects (`--store`). Its parent sends requests over HTTP and reads the cost of the last one over IPC.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { NS_PER_MS } from '../../../src/pdata/time-units.ts';

export interface Cost {
  /** Processor time of the process, in milliseconds. */
  readonly cpuMs: number;
  /**
   * Longest time between two passes of the event loop, in milliseconds of wall clock or of processor time of the main
   * thread, whichever is less: on a busy machine the thread also waits for a processor.
   */
  readonly blockMs: number;
  /** With the store `file`. */
  readonly rowBytes: number;
  /** The highest resident memory above that before the request, in bytes. */
  readonly memoryBytes: number;
}

const PROCESSED = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth: { keys: [ { key: ${KEY}, project: demo }, { key: ${OTHER_KEY}, project: other } ] }
  environment: {}
  privacy:
    redact:
      - { preset: api_keys }
      - { preset: bearer_tokens }
      - { preset: private_keys }
      - { preset: jwt }
      - { preset: url_passwords }
      - { preset: url_parameters }
      - { preset: email }
      - { preset: credit_cards }
      - { preset: iban }
      - { preset: phone }
      - { preset: ip_address }
      - { preset: us_ssn }
      - { name: ticket, pattern: 'TCK-[0-9]{6}', replacement: '[ticket]' }
      - { name: words, pattern: '(alpha|beta|gamma)+[0-9]*x', replacement: '[word]' }
  normalization: {}
  pricing: {}
`;

interface Store {
  readonly exporter: string;
  /** Its options. */
  readonly options: string;
}

const STORES: Readonly<Record<string, Store>> = {
  file: { exporter: 'file', options: '{ path: "{folder}/out.ndjson", rotation: { max_size: 64MiB, max_files: 1 } }' },
  postgres: { exporter: 'postgres', options: '{}' },
  objects: { exporter: 'objects', options: '{ to: "{folder}/objects", linger: 0s }' },
};

/** `dataFolder`: of the embedded server; null when the ledger is in memory. */
function configOf({ exporter, options }: Store, dataFolder: string | null): string {
  const ledger = dataFolder === null ? 'ledger: memory' : 'extensions: [postgres]';
  const extensions = dataFolder === null ? '' : `extensions: { postgres: { data_dir: ${dataFolder} } }\n`;
  return `${extensions}${PROCESSED}
exporters: { ${exporter}: ${options} }
service:
  ${ledger}
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &all
      { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [${exporter}] }
    logs: *all
    metrics: *all
`;
}

const BEAT_MS = 1;

/** Processor time of the main thread in milliseconds; of the process where the system does not tell. */
function threadMs(): number {
  try {
    return Number.parseInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8'), 10) / NS_PER_MS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

const teardowns: (() => Promise<void>)[] = [];
const scope = { teardown: (task: () => Promise<void>) => teardowns.push(task) };
const { values } = parseArgs({ options: { store: { type: 'string', default: 'file' } } });
const store = STORES[values.store];
if (store === undefined) throw new Error(`--store is one of ${Object.keys(STORES).join(', ')}`);
// As root, the embedded server runs as another user, which must be able to read the folder.
const dataFolder = mkdtempSync(join(tmpdir(), 'sluice-subject-'));
chmodSync(dataFolder, 0o755);
scope.teardown(async () => rmSync(dataFolder, { recursive: true, force: true }));
const daemon = await startDaemon(scope, { config: configOf(store, values.store === 'file' ? null : dataFolder) });
const path = join(daemon.folder, 'out.ndjson');
const sizeOf = (): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

let beat = performance.now();
let beatMs = threadMs();
let started = { cpu: process.cpuUsage(), size: sizeOf(), rss: process.memoryUsage.rss() };
let blockMs = 0;
let mostRss = 0;

function measure(): void {
  const now = performance.now();
  blockMs = Math.max(blockMs, Math.min(now - beat, threadMs() - beatMs));
  mostRss = Math.max(mostRss, process.memoryUsage.rss());
  beat = performance.now();
  beatMs = threadMs();
}
setInterval(measure, BEAT_MS);

process.on('message', (question) => {
  measure();
  if (question === 'begin') {
    started = { cpu: process.cpuUsage(), size: sizeOf(), rss: process.memoryUsage.rss() };
    blockMs = 0;
    mostRss = 0;
    process.send?.('begun');
    return;
  }
  const { user, system } = process.cpuUsage(started.cpu);
  const size = sizeOf();
  const cost: Cost = {
    cpuMs: (user + system) / 1000,
    blockMs,
    // A rotation begins a new file.
    rowBytes: size >= started.size ? size - started.size : size,
    memoryBytes: Math.max(0, mostRss - started.rss),
  };
  process.send?.(cost);
});
process.on('disconnect', () => {
  void Promise.all(teardowns.map((task) => task())).finally(() => process.exit(0));
});
process.send?.({ url: daemon.url });
