/** The executable with two workers on its own database, with its status and metrics. */
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Status, WorkerStatus } from '../../src/service/telemetry/status.ts';
import { ask } from './connection.ts';
import { KEY } from './daemon.ts';
import { type Executable, freePort, openFolder, startExecutable } from './executable.ts';
import { type Answer, send } from './otlp-client.ts';
import { createDatabase } from './postgres.ts';
import { SERVED } from './postgres-daemon.ts';

const WORKERS = 2;
const POLL_MS = 20;

export interface ConfigChanges {
  /** The default environment. */
  readonly environment?: string;
  /** Further receivers, as YAML. */
  readonly more?: string;
}

export interface WorkerScene {
  readonly daemon: Executable;
  readonly folder: string;
  /** Starts another daemon after the end of this one. */
  startAgain(): Promise<Executable>;
  readonly url: string;
  readonly databaseUrl: string;
  readonly readinessUrl: string;
  configure(changes: ConfigChanges | string): void;
  status(): Promise<Status>;
  workers(): Promise<readonly WorkerStatus[]>;
  /** The values of a metric by worker, summed over other matching labels. */
  metric(name: string, matching?: string): Promise<Readonly<Record<string, number>>>;
  query(text: string): Promise<readonly Record<string, unknown>[]>;
}

export async function startWorkers(t: { teardown(task: () => Promise<void>): unknown }): Promise<WorkerScene> {
  const folder = openFolder(t);
  const { url: databaseUrl } = await createDatabase(t, SERVED);
  const [port, health, metrics] = [await freePort(), await freePort(), await freePort()];
  const configure = (changes: ConfigChanges | string): void => {
    const text = typeof changes === 'string' ? changes : configOf({ databaseUrl, port, health, metrics }, changes);
    writeFileSync(join(folder, 'sluice.yaml'), text);
  };
  configure({});
  const start = async (): Promise<Executable> => {
    const started = startExecutable(['--workers', String(WORKERS), '--config', 'sluice.yaml'], folder);
    t.teardown(async () => {
      started.child.kill('SIGKILL');
      await started.ended;
    });
    await started.until('everything is ready');
    return started;
  };
  const daemon = await start();
  const status = async (): Promise<Status> => JSON.parse(await readAll(join(folder, 's'))) as Status;
  return {
    daemon,
    folder,
    startAgain: start,
    url: `http://127.0.0.1:${port}`,
    readinessUrl: `http://127.0.0.1:${health}/`,
    databaseUrl,
    configure,
    status,
    workers: async () => (await status()).workers,
    metric: async (name, matching = '') => {
      const text = await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
      return sumsOf(text, name, matching);
    },
    query: (text) => ask(databaseUrl, text),
  };
}

interface Places {
  readonly databaseUrl: string;
  readonly port: number;
  readonly health: number;
  readonly metrics: number;
}

const configOf = (
  { databaseUrl, port, health, metrics }: Places,
  { environment = 'default', more = '' }: ConfigChanges,
): string => `
extensions:
  postgres: { url: "${databaseUrl}", allow_unsafe: true }
  health_check: { endpoint: "127.0.0.1:${health}" }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } }
  ${more}
processors:
  auth: { keys: [ { key: ${KEY}, project: demo } ] }
  environment: { default: ${environment} }
exporters: { postgres: {} }
service:
  extensions: [postgres, health_check]
  telemetry: { metrics: { endpoint: "127.0.0.1:${metrics}" }, status: { socket: ./s } }
  pipelines:
    traces: { receivers: [otlp${more === '' ? '' : ', otlp/more'}], processors: [auth, environment], exporters: [postgres] }
`;

function readAll(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const connection = connect(path);
    connection.on('data', (chunk: Buffer) => (text += chunk.toString()));
    connection.once('end', () => resolve(text)).once('error', reject);
  });
}

function sumsOf(text: string, name: string, matching: string): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [, labels = '', value = ''] of text.matchAll(new RegExp(`^${name}\\{(.*)\\} (\\S+)$`, 'gmu'))) {
    const worker = /worker="([^"]*)"/u.exec(labels)?.[1] ?? '';
    if (labels.includes(matching)) sums[worker] = (sums[worker] ?? 0) + Number(value);
  }
  return sums;
}

/** Sends over persistent connections, and remembers the spans that were answered 200. */
export class KeptConnection {
  readonly stored: string[] = [];
  readonly #url: string;
  readonly #number: number;
  #count = 0;
  #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  constructor(url: string, number: number) {
    this.#url = url;
    this.#number = number;
  }

  /** Sends a new span, unless a body is given. */
  async send(body = bodyOf(this.nextSpanId()), authorization = `Bearer ${KEY}`): Promise<Answer> {
    return send(this.#url, { body, authorization, connection: { agent: this.#agent } });
  }

  nextSpanId(): string {
    return (this.#number * 1e9 + ++this.#count).toString(16).padStart(16, '0');
  }

  /** Sends one request after the other, each until it is stored. */
  async keepSending(more: () => boolean): Promise<void> {
    while (more()) {
      const spanId = this.nextSpanId();
      const body = bodyOf(spanId);
      while (more()) {
        const status = await this.send(body).then(
          (answer) => answer.status,
          () => null,
        );
        if (status === 200) {
          this.stored.push(spanId);
          break;
        }
        this.renew();
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    }
    this.close();
  }

  /** The next request opens another connection. */
  renew(): void {
    this.close();
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1 });
  }

  close(): void {
    this.#agent.destroy();
  }
}

export const bodyOf = (spanId: string): string =>
  JSON.stringify({
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              { traceId: spanId.padStart(32, '1'), spanId, name: 'work', startTimeUnixNano: `${Date.now()}000000` },
            ],
          },
        ],
      },
    ],
  });

/** Polls until the condition is true. The time limit of the test file ends a wait that never succeeds. */
export async function until(yes: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await yes())) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

export function isGone(pid: number | null): boolean {
  try {
    if (pid !== null) process.kill(pid, 0);
    return pid === null;
  } catch {
    return true;
  }
}
