/** The `otlp` receiver's face: OTLP over HTTP into the pipelines of its signals. */
import { defineReceiver } from '../../component/receiver.ts';
import { ByteBudget } from './byte-budget.ts';
import { HttpRequests } from './http-requests.ts';
import { HttpServer } from './http-server.ts';
import { OTLP_SCHEMA, type OtlpOptions } from './options.ts';
import { Reception } from './reception.ts';

export const otlp = defineReceiver<OtlpOptions>({
  type: 'otlp',
  summary: 'Takes OTLP traces, logs and metrics over HTTP, as protobuf or JSON.',
  stability: 'beta',
  schema: OTLP_SCHEMA,
  example: 'protocols: { http: { endpoint: 127.0.0.1:4318 } }',
  signals: ['traces', 'logs', 'metrics'],
  create: ({ protocols: { http } }, host, pipelines) => {
    const budget = new ByteBudget(http.max_in_flight_size);
    const reception = new Reception({ pipelines, budgets: [budget], logger: host.logger, meter: host.meter });
    return new HttpServer(http, host, new HttpRequests(http, reception, budget));
  },
});
