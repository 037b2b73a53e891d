/** Spans of client libraries, which frameworks above them also report. */
import type { Dialect } from './dialect.ts';

/** Calls of Bedrock in instrumentations of the AWS SDK. Amazon's distribution has them on below Strands Agents. */
export const AWS_SDK: Dialect = {
  id: 'aws-sdk',
  repeatsCallAbove: true,
  // The id of the service in Python, and in JavaScript and Java.
  markers: ['rpc.service=Bedrock Runtime', 'rpc.service=BedrockRuntime'],
  cachedTokens: [{ providers: ['aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  sources: [
    'open-telemetry/opentelemetry-python-contrib: instrumentation/opentelemetry-instrumentation-botocore',
    'open-telemetry/opentelemetry-js-contrib: packages/instrumentation-aws-sdk',
  ],
};

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
