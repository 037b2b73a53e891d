/** Laminar: a fork of OpenLLMetry with additions. */
import type { Dialect } from './dialect.ts';

export const LAMINAR: Dialect = {
  id: 'laminar',
  scopes: ['lmnr.tracer', 'lmnr*'],
  markers: ['lmnr.span.*', 'lmnr.association.properties.*'],
  fields: {
    operation: ['lmnr.span.type'],
    request_model: ['aisdk.model.id'],
    cache_write_5m_tokens: ['gen_ai.usage.cache_creation.input_tokens.ephemeral_5m'],
    cache_write_1h_tokens: ['gen_ai.usage.cache_creation.input_tokens.ephemeral_1h'],
    reasoning_tokens: ['gen_ai.usage.reasoning_output_tokens'],
    service_tier: [
      'gen_ai.response.service_tier',
      'gen_ai.request.service_tier',
      'anthropic.response.service_tier',
      'anthropic.request.service_tier',
      'gen_ai.request.batch',
    ],
    conversation_id: ['lmnr.association.properties.session_id'],
    user_id: ['lmnr.association.properties.user_id'],
    tool_arguments: [{ attribute: 'lmnr.span.input', when: ['execute_tool'] }],
    tool_result: [{ attribute: 'lmnr.span.output', when: ['execute_tool'] }],
    input_content: ['lmnr.span.input'],
    output_content: ['lmnr.span.output'],
  },
  operations: {
    'lmnr.span.type': {
      LLM: 'chat',
      TOOL: 'execute_tool',
      DEFAULT: 'workflow',
      EXECUTOR: 'workflow',
      EVALUATOR: 'evaluation',
      EVALUATION: 'evaluation',
      HUMAN_EVALUATOR: 'evaluation',
      PIPELINE: 'workflow',
    },
  },
  namedBySpan: ['execute_tool'],
  // Its type is LLM too.
  spanNames: { 'openai.embeddings': 'embeddings' },
  cachedTokens: [{ cached: 'inside' }],
  content: ['lmnr.sdk.raw.response', 'lmnr.internal.trace_input', 'lmnr.internal.trace_output'],
  sources: ['lmnr-ai/lmnr: app-server/src/traces/span_attributes.rs; recorded from lmnr 0.8'],
};
