/** The Braintrust SDKs: metrics and metadata as JSON documents. */
import type { Dialect } from './dialect.ts';

export const BRAINTRUST: Dialect = {
  id: 'braintrust',
  scopes: ['braintrust*'],
  markers: ['braintrust.*'],
  fields: {
    operation: [{ attribute: 'braintrust.span_attributes', paths: ['type'] }],
    provider: [{ attribute: 'braintrust.metadata', paths: ['provider'] }],
    request_model: [{ attribute: 'braintrust.metadata', paths: ['model'] }],
    input_tokens: [{ attribute: 'braintrust.metrics', paths: ['prompt_tokens'] }],
    output_tokens: [{ attribute: 'braintrust.metrics', paths: ['completion_tokens'] }],
    total_tokens: [{ attribute: 'braintrust.metrics', paths: ['tokens'] }],
    cache_read_tokens: [{ attribute: 'braintrust.metrics', paths: ['prompt_cached_tokens'] }],
    cache_write_tokens: [{ attribute: 'braintrust.metrics', paths: ['prompt_cache_creation_tokens'] }],
    cache_write_5m_tokens: [{ attribute: 'braintrust.metrics', paths: ['prompt_cache_creation_5m_tokens'] }],
    cache_write_1h_tokens: [{ attribute: 'braintrust.metrics', paths: ['prompt_cache_creation_1h_tokens'] }],
    reasoning_tokens: [{ attribute: 'braintrust.metrics', paths: ['completion_reasoning_tokens'] }],
    input_content: ['braintrust.input_json', 'braintrust.input'],
    output_content: ['braintrust.output_json', 'braintrust.output'],
    time_to_first_token: [{ attribute: 'braintrust.metrics', paths: ['time_to_first_token'], unit: 's' }],
  },
  operations: {
    'braintrust.span_attributes': {
      llm: 'chat',
      task: 'workflow',
      tool: 'execute_tool',
      function: 'workflow',
      score: 'evaluation',
      eval: 'evaluation',
      facet: 'other',
      preprocessor: 'other',
    },
  },
  cachedTokens: [{ cached: 'inside' }],
  content: ['braintrust.expected', 'braintrust.metadata'],
  sources: ['braintrustdata/braintrust-sdk-java', 'braintrustdata/braintrust-sdk-go'],
};
