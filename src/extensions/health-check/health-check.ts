/**
 * Readiness over HTTP, for load balancers and orchestrators: 200 while the service can store requests, 503 with the
 * reasons otherwise. Liveness is separate: the receiver's `/health` answers it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { defineExtension, type Extension, SERVICE_STATUS } from '../../component/extension.ts';
import type { Host } from '../../component/component.ts';
import type { Listener } from '../../component/listening.ts';
import type { HttpConnections } from '../../net/http-connections.ts';
import { servePaced } from '../../net/paced-server.ts';
import { targetOf } from '../../net/request-target.ts';
import { TELEMETRY_PLACE } from '../../net/telemetry-place.ts';

export interface HealthCheckOptions {
  readonly endpoint: string;
  readonly path: string;
}

export const healthCheck = defineExtension<HealthCheckOptions>({
  type: 'health_check',
  summary: 'Reports over HTTP whether the service is ready',
  stability: 'stable',
  placement: 'primary',
  schema: {
    type: 'object',
    description: 'Answers 200 when all components have started and every sink is healthy, else 503 and the reasons.',
    additionalProperties: false,
    properties: {
      endpoint: {
        type: 'string',
        format: 'endpoint',
        default: '127.0.0.1:13133',
        description: 'The address to listen on.',
      },
      path: {
        type: 'string',
        pattern: '^/[^?#\\s]*$',
        maxLength: 200,
        default: '/',
        description: 'The path of the check. Any other path gets 404.',
      },
    },
  },
  example: 'endpoint: 127.0.0.1:13133',
  create: (options, host) => new HealthCheck(options, host),
});

class HealthCheck implements Extension {
  readonly #options: HealthCheckOptions;
  readonly #host: Host;
  #connections: HttpConnections | null = null;
  #listener: Listener | null = null;

  constructor(options: HealthCheckOptions, host: Host) {
    this.#options = options;
    this.#host = host;
  }

  async start(): Promise<void> {
    this.#connections = servePaced((request, response) => this.#answer(request, response));
    const option = `extensions.${this.#host.id}.endpoint`;
    const request = { endpoint: this.#options.endpoint, option };
    this.#listener = await this.#host.listeners.listen(request, this.#connections);
    this.#host.logger.info({ endpoint: this.#listener.address }, 'answering readiness checks');
  }

  async stop(): Promise<void> {
    this.#listener?.close();
    await this.#connections?.cut();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const [status, body] = this.#answerTo(request);
    response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
  }

  #answerTo(request: IncomingMessage): readonly [status: number, body: object] {
    const { path } = this.#options;
    if (targetOf(request.url ?? '')?.path !== path)
      return [404, { message: `The readiness check is at ${path}. ${TELEMETRY_PLACE}` }];
    if (request.method !== 'GET' && request.method !== 'HEAD') return [405, { message: 'Use GET' }];
    const status = this.#host.capabilities.find(SERVICE_STATUS);
    const problems = status?.problems() ?? ['the state of the service is unknown'];
    return problems.length === 0 ? [200, { status: 'ready' }] : [503, { status: 'not_ready', problems }];
  }
}
