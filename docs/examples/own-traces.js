/** The extension `own_traces`: sends the daemon's own spans over OTLP with OpenTelemetry's SDK. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import { defineExtension } from 'sluice';

export const ownTraces = defineExtension({
  type: 'own_traces',
  summary: "Sends the daemon's own spans by OTLP.",
  stability: 'development',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['url'],
    properties: { url: { type: 'string', description: 'Where they go. Headers: OTEL_EXPORTER_OTLP_HEADERS.' } },
  },
  example: 'url: http://127.0.0.1:4318/v1/traces',
  create: ({ url }) => {
    const resource = resourceFromAttributes({ 'service.name': 'sluice' });
    const spanProcessors = [new BatchSpanProcessor(new OTLPTraceExporter({ url }))];
    const provider = new NodeTracerProvider({ resource, spanProcessors });
    return { start: async () => provider.register(), stop: () => provider.shutdown() };
  },
});
