/** Serves the daemon's own metrics: GET /metrics in the Prometheus text format, as the Collector does on port 8888. */
import { createServer, type Server } from 'node:http';
import { UserError } from '../../errors.ts';
import type { Component } from '../../component/component.ts';
import type { Registry } from './registry.ts';

const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export class MetricsServer implements Component {
  readonly #endpoint: string;
  readonly #server: Server;

  constructor(endpoint: string, registry: Registry) {
    this.#endpoint = endpoint;
    this.#server = createServer((request, response) => {
      const found = request.method === 'GET' && request.url?.split('?')[0] === '/metrics';
      if (found) response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(registry.print());
      else response.writeHead(404, { 'Content-Type': 'text/plain' }).end('The metrics are at /metrics\n');
    });
  }

  async start(): Promise<void> {
    const colon = this.#endpoint.lastIndexOf(':');
    const host = this.#endpoint.slice(0, colon).replace(/^\[|\]$/g, '');
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => {
        const hint = 'Set service.telemetry.metrics.endpoint to a free address.';
        reject(error.code === 'EADDRINUSE' ? new UserError(`${this.#endpoint} is already in use`, hint) : error);
      });
      this.#server.listen({ host, port: Number(this.#endpoint.slice(colon + 1)) }, () => resolve());
    });
  }

  /** The bound port; differs from the configured one when that was 0. */
  get port(): number | null {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : null;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
