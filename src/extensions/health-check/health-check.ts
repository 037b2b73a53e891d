/**
 * Readiness over HTTP, for load balancers and orchestrators: 200 while the service can store what it accepts, 503 with the
 * reasons otherwise. Liveness is another question; the receiver's `/health` answers that.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { defineExtension, type Extension, SERVICE_STATUS } from '../../component/extension.ts';
import type { Host } from '../../component/component.ts';
import { UserError } from '../../errors.ts';

export interface HealthCheckOptions {
  readonly endpoint: string;
  readonly path: string;
}

/** A prober sends a line and a few headers; whoever needs longer is not one. */
const REQUEST_TIMEOUT_MS = 5_000;
const MAX_HEADER_BYTES = 8 * 1024;
const MAX_CONNECTIONS = 100;

export const healthCheck = defineExtension<HealthCheckOptions>({
  type: 'health_check',
  summary: 'Tells over HTTP whether the service is ready',
  stability: 'stable',
  schema: {
    type: 'object',
    description: 'Answers 200 when everything has started and every sink is healthy, else 503 and the reasons.',
    additionalProperties: false,
    properties: {
      endpoint: {
        type: 'string',
        format: 'endpoint',
        default: '127.0.0.1:13133',
        description: 'Where to listen.',
      },
      path: {
        type: 'string',
        pattern: '^/[^?#\\s]*$',
        maxLength: 200,
        default: '/',
        description: 'The path that is answered; any other gets 404.',
      },
    },
  },
  example: 'endpoint: 127.0.0.1:13133',
  create: (options, host) => new HealthCheck(options, host),
});

class HealthCheck implements Extension {
  readonly #options: HealthCheckOptions;
  readonly #host: Host;
  #server: Server | null = null;

  constructor(options: HealthCheckOptions, host: Host) {
    this.#options = options;
    this.#host = host;
  }

  async start(): Promise<void> {
    const { host, port } = splitEndpoint(this.#options.endpoint);
    const server = createServer(
      { requestTimeout: REQUEST_TIMEOUT_MS, maxHeaderSize: MAX_HEADER_BYTES },
      (request, response) => this.#answer(request, response),
    );
    server.maxConnections = MAX_CONNECTIONS;
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(this.#explain(error)));
      server.listen({ port, ...(host === '' ? {} : { host }) }, resolve);
    });
    server.on('error', (error) => this.#host.logger.error({ error }, 'the readiness endpoint has a fault'));
    const address = server.address();
    const bound = typeof address === 'object' ? address?.port : undefined;
    this.#host.logger.info({ endpoint: this.#options.endpoint, port: bound }, 'readiness is answered');
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server === null || !server.listening) return;
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [status, body] = this.#verdictOn(request);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
  }

  #verdictOn(request: IncomingMessage): readonly [status: number, body: object] {
    if ((request.url ?? '').split('?')[0] !== this.#options.path) return [404, { message: 'Not found' }];
    if (request.method !== 'GET' && request.method !== 'HEAD') return [405, { message: 'Use GET' }];
    const status = this.#host.capabilities.find(SERVICE_STATUS);
    const problems = status?.problems() ?? ['the state of the service is unknown'];
    return problems.length === 0 ? [200, { status: 'ready' }] : [503, { status: 'not_ready', problems }];
  }

  #explain(error: NodeJS.ErrnoException): Error {
    const { endpoint } = this.#options;
    const hint = `set extensions.${this.#host.id}.endpoint to another address`;
    if (error.code === 'EADDRINUSE') return new UserError(`${endpoint} is already in use`, hint);
    if (error.code === 'EADDRNOTAVAIL') return new UserError(`${endpoint} is not an address of this machine`, hint);
    if (error.code === 'EACCES') return new UserError(`listening on ${endpoint} is not permitted`, hint);
    return error;
  }
}

/** The schema has checked the form. */
function splitEndpoint(endpoint: string): { readonly host: string; readonly port: number } {
  const colon = endpoint.lastIndexOf(':');
  return { host: endpoint.slice(0, colon).replace(/^\[|\]$/gu, ''), port: Number(endpoint.slice(colon + 1)) };
}
