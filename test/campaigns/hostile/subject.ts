/**
 * The measured process: a whole service that writes to a file, with every processor and the redaction presets. Its
 * parent sends requests over HTTP and reads the cost of the last one over IPC.
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';

export interface Cost {
  /** Processor time of the process, in milliseconds. */
  readonly cpuMs: number;
  /**
   * Longest time between two passes of the event loop, in milliseconds of wall clock or of processor time of the main
   * thread, whichever is less: on a busy machine the thread also waits for a processor.
   */
  readonly blockMs: number;
  readonly rowBytes: number;
  /** The highest resident memory above that before the request, in bytes. */
  readonly memoryBytes: number;
}

export const CONFIG = `
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
exporters: { file: { path: "{folder}/out.ndjson", rotation: { max_size: 64MiB, max_files: 1 } } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [file] }
    logs: { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [file] }
    metrics: { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [file] }
`;

const BEAT_MS = 1;
const NS_PER_MS = 1e6;

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
const daemon = await startDaemon({ teardown: (task) => teardowns.push(task) }, { config: CONFIG });
const path = join(daemon.folder, 'out.ndjson');
const sizeOf = (): number => statSync(path).size;

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
