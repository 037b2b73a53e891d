/** The `otlp` receiver's face: OTLP over HTTP into the pipelines of its signals. */
import { defineReceiver } from '../../component/receiver.ts';
import { HttpServer } from './http-server.ts';
import { OTLP_SCHEMA, type OtlpOptions } from './options.ts';

export const otlp = defineReceiver<OtlpOptions>({
  type: 'otlp',
  summary: 'Takes OTLP traces, logs and metrics over HTTP, as protobuf or JSON.',
  stability: 'beta',
  schema: OTLP_SCHEMA,
  example: 'protocols: { http: { endpoint: 127.0.0.1:4318 } }',
  signals: ['traces', 'logs', 'metrics'],
  create: (options, host, pipelines) => new HttpServer(options.protocols.http, pipelines, host.logger, host.meter),
});
