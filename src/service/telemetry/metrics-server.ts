/** Serves the daemon's own metrics: GET /metrics in the Prometheus text format, as the Collector does on port 8888. */
import type { ServerResponse } from 'node:http';
import type { Component } from '../../component/component.ts';
import type { HttpConnections } from '../../net/http-connections.ts';
import { servePaced } from '../../net/paced-server.ts';
import { targetOf } from '../../net/request-target.ts';
import { TELEMETRY_PLACE } from '../../net/telemetry-place.ts';
import type { Listener, Listeners } from '../../component/listening.ts';

export interface MetricsSource {
  /** All metrics in the text format. */
  print(): string | Promise<string>;
}

const OTHER_PATH = `The metrics are at /metrics. ${TELEMETRY_PLACE}\n`;
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export class MetricsServer implements Component {
  /** The configured endpoint. */
  readonly endpoint: string;
  readonly #listeners: Listeners;
  readonly #connections: HttpConnections;
  #listener: Listener | null = null;

  constructor(endpoint: string, metrics: MetricsSource, listeners: Listeners) {
    this.endpoint = endpoint;
    this.#listeners = listeners;
    const texts = new SharedText(metrics);
    this.#connections = servePaced((request, response) => {
      const found = request.method === 'GET' && targetOf(request.url ?? '')?.path === '/metrics';
      if (found) void answer(response, texts);
      else response.writeHead(404, { 'Content-Type': 'text/plain' }).end(OTHER_PATH);
    });
  }

  async start(): Promise<void> {
    const option = 'service.telemetry.metrics.endpoint';
    const request = { endpoint: this.endpoint, option };
    this.#listener = await this.#listeners.listen(request, this.#connections);
  }

  /** The bound address; null before the start. */
  get address(): string | null {
    return this.#listener?.address ?? null;
  }

  async stop(): Promise<void> {
    this.#listener?.close();
    await this.#connections.cut();
  }
}

/** Requests of one iteration of the event loop get the same text, because printing takes milliseconds. */
class SharedText implements MetricsSource {
  readonly #source: MetricsSource;
  #next: Promise<string> | null = null;

  constructor(source: MetricsSource) {
    this.#source = source;
  }

  print(): Promise<string> {
    this.#next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      this.#next = null;
      return this.#source.print();
    });
    return this.#next;
  }
}

async function answer(response: ServerResponse, metrics: MetricsSource): Promise<void> {
  const text = await metrics.print();
  response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(text);
}
