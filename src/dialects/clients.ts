/** Spans of client libraries, which frameworks above them also report. */
import type { Dialect } from './dialect.ts';

/** Mistral's client for Python. Its releases 1.x send spans wherever a tracer provider is set, without response ids. */
export const MISTRAL_SDK: Dialect = {
  id: 'mistral-sdk',
  repeatsCallAbove: true,
  scopes: ['mistralai_sdk_tracer'],
  // On each of its spans, also where a processor of another sender adds the marks of its own dialect to every span.
  markers: ['agent.trace.public', 'mistral_ai.operation.id'],
  fields: {
    total_tokens: ['mistral_ai.request.total_tokens'],
    tool_arguments: ['mistral_ai.tool.call.arguments', 'mistral_ai.function.call.arguments'],
    error_type: ['mistral_ai.error.type'],
  },
  spanNames: {
    'embeddings_v1_*': 'embeddings',
    'fim_completion_v1_*': 'text_completion',
    stream_fim: 'text_completion',
  },
  cachedTokens: [{ cached: 'inside' }],
  sources: ['mistralai/client-python: src/mistralai/extra/observability/otel.py'],
};
