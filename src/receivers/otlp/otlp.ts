/** The `otlp` receiver: OTLP over HTTP and gRPC into the pipelines of its signals. */
import type { Component, Host } from '../../component/component.ts';
import { defineReceiver, type Pipeline } from '../../component/receiver.ts';
import type { Signal } from '../../pdata/context.ts';
import { ByteBudget } from './byte-budget.ts';
import { GrpcCalls } from './grpc-calls.ts';
import { GrpcServer } from './grpc-server.ts';
import { HttpRequests } from './http-requests.ts';
import { HttpServer } from './http-server.ts';
import { checkOptions, OTLP_SCHEMA, type OtlpOptions } from './options.ts';
import { Reception } from './reception.ts';

export const otlp = defineReceiver<OtlpOptions>({
  type: 'otlp',
  summary: 'Receives OTLP traces, logs and metrics over HTTP, as protobuf or JSON, and over gRPC.',
  stability: 'beta',
  schema: OTLP_SCHEMA,
  example: 'protocols: { http: { endpoint: 127.0.0.1:4318 } }',
  signals: ['traces', 'logs', 'metrics'],
  check: checkOptions,
  create: (options, host, pipelines) => new OtlpReceiver(serversOf(options, host, pipelines)),
});

/** A worker with a smaller share of the bytes in flight could not accept a large request. */
const MIN_SHARE_BYTES = 64 * 1024 * 1024;

interface Server extends Component {
  start(): Promise<void>;
  stop(deadline: AbortSignal): Promise<void>;
}

/** One server for each protocol; they start one after the other and stop together. */
class OtlpReceiver implements Component {
  readonly #servers: readonly Server[];

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
  }

  async start(): Promise<void> {
    for (const server of this.#servers) await server.start();
  }

  async stop(deadline: AbortSignal): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.stop(deadline)));
  }
}

function serversOf(
  { protocols: { http, grpc } }: OtlpOptions,
  host: Host,
  pipelines: ReadonlyMap<Signal, Pipeline>,
): readonly Server[] {
  const { logger, meter, workers } = host;
  const budgets: ByteBudget[] = [];
  const budgetOf = (bytes: number): ByteBudget => {
    const share = Math.max(Math.floor(bytes / workers), Math.min(bytes, MIN_SHARE_BYTES));
    const budget = new ByteBudget(share);
    budgets.push(budget);
    return budget;
  };
  const reception = new Reception({ pipelines, budgets, logger, meter, capabilities: host.capabilities });
  const servers: Server[] = [];
  if (http !== undefined) {
    const requests = new HttpRequests(http, reception, budgetOf(http.max_in_flight_size));
    servers.push(new HttpServer(http, host, requests));
  }
  if (grpc !== undefined) {
    const calls = new GrpcCalls(grpc, reception, budgetOf(grpc.max_in_flight_size));
    servers.push(new GrpcServer(grpc, host, calls));
  }
  return servers;
}
