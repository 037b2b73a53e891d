/** The honest project: small requests at a constant rate on persistent connections, and liveness checks on new ones. */
import { randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { quantile } from '../../../src/cli/bench/figures.ts';
import { HONEST_KEY, OWNED_TRACE } from './scene.ts';

export const REQUEST_EVERY_MS = 25;
const HEALTH_EVERY_MS = 100;
const TIMEOUT_MS = 10_000;

interface Outcome {
  /** The status or the error. */
  readonly answer: string;
  readonly ms: number;
}

export interface Seen {
  readonly times: readonly number[];
  /** The number of each answer other than 200. */
  readonly refused: ReadonlyMap<string, number>;
  readonly healthWorst: number;
}

export const quantileOf = (seen: readonly Seen[], part: number): number =>
  quantile(
    seen.flatMap(({ times }) => times),
    part,
  );

export class Honest {
  readonly #port: number;
  readonly #key: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 });

  constructor(port: number, key = HONEST_KEY) {
    this.#port = port;
    this.#key = key;
  }

  /** Its results of this time. */
  async watch(ms: number): Promise<Seen> {
    const [requests, health] = await Promise.all([
      this.#every(REQUEST_EVERY_MS, ms, () => this.send()),
      this.#every(HEALTH_EVERY_MS, ms, () => this.#ask('GET', '/health', '')),
    ]);
    const refused = new Map<string, number>();
    for (const { answer } of [...requests, ...health])
      if (answer !== '200') refused.set(answer, (refused.get(answer) ?? 0) + 1);
    const times = requests.map((each) => each.ms);
    const healthWorst = Math.max(...health.map((each) => each.ms));
    return { times, refused, healthWorst };
  }

  send(traceId = randomBytes(16).toString('hex')): Promise<Outcome> {
    return this.#ask('POST', '/v1/traces', bodyOf(traceId));
  }

  /** Creates a trace of this project that attacks try to write to. */
  async claim(): Promise<void> {
    await this.send(OWNED_TRACE);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #every(interval: number, ms: number, work: () => Promise<Outcome>): Promise<readonly Outcome[]> {
    const outcomes: Promise<Outcome>[] = [];
    const ends = performance.now() + ms;
    while (performance.now() < ends) {
      outcomes.push(work());
      await new Promise((resolve) => setTimeout(resolve, interval));
    }
    return Promise.all(outcomes);
  }

  #ask(method: 'GET' | 'POST', path: string, body: string): Promise<Outcome> {
    const started = performance.now();
    return new Promise((resolve) => {
      const end = (answer: string): void => resolve({ answer, ms: performance.now() - started });
      const headers = {
        authorization: `Bearer ${this.#key}`,
        'content-type': 'application/json',
        'content-length': body.length,
      };
      const agent = method === 'POST' ? this.#agent : false;
      const outgoing = request({ port: this.#port, method, path, headers, agent, timeout: TIMEOUT_MS }, (response) => {
        response.resume().on('end', () => end(String(response.statusCode)));
      });
      outgoing.on('timeout', () => outgoing.destroy(new Error('timeout')));
      outgoing.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
      outgoing.end(body);
    });
  }
}

export function bodyOf(traceId = randomBytes(16).toString('hex'), spans = 1): string {
  const startTimeUnixNano = `${Date.now()}000000`;
  const span = (): object => ({ traceId, spanId: randomBytes(8).toString('hex'), name: 'chat', startTimeUnixNano });
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: Array.from({ length: spans }, span) }] }] });
}
