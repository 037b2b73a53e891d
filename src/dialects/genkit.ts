/** Genkit: names with colons, usage inside the output document. */
import type { Dialect } from './dialect.ts';

export const GENKIT: Dialect = {
  id: 'genkit',
  scopes: ['genkit-tracer', 'genkit-go'],
  markers: ['genkit:*'],
  fields: {
    operation: ['genkit:metadata:subtype', 'genkit:type'],
    request_model: [{ attribute: 'genkit:name', only: ['genkit'], when: ['chat', 'embeddings'], after: '/' }],
    response_model: [
      {
        attribute: 'genkit:output',
        paths: ['custom.model', 'raw.model', 'custom.modelVersion', 'raw.modelVersion'],
        when: ['chat'],
      },
    ],
    response_id: [
      {
        attribute: 'genkit:output',
        paths: ['custom.id', 'raw.id', 'custom.responseId', 'raw.responseId'],
        when: ['chat'],
      },
    ],
    input_tokens: [
      { attribute: 'genkit:output', paths: ['usage.inputTokens'] },
      { attribute: 'inputTokens', only: ['genkit'] },
    ],
    output_tokens: [{ attribute: 'genkit:output', paths: ['usage.outputTokens'] }],
    total_tokens: [{ attribute: 'genkit:output', paths: ['usage.totalTokens'] }],
    cache_read_tokens: [
      {
        attribute: 'genkit:output',
        paths: [
          'usage.cachedContentTokens',
          'raw.usage.prompt_tokens_details.cached_tokens',
          'custom.usage.prompt_tokens_details.cached_tokens',
          'usage.custom.cache_read_input_tokens',
        ],
      },
    ],
    cache_write_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.cache_creation_input_tokens'] }],
    cache_write_5m_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.ephemeral_5m_input_tokens'] }],
    cache_write_1h_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.ephemeral_1h_input_tokens'] }],
    reasoning_tokens: [
      {
        attribute: 'genkit:output',
        paths: [
          'usage.thoughtsTokens',
          'raw.usage.completion_tokens_details.reasoning_tokens',
          'custom.usage.completion_tokens_details.reasoning_tokens',
        ],
      },
    ],
    conversation_id: ['genkit:sessionId', 'genkit:threadName'],
    tool_name: [{ attribute: 'genkit:name', only: ['genkit'], when: ['execute_tool'] }],
    tool_arguments: [{ attribute: 'genkit:input', when: ['execute_tool'] }],
    tool_result: [{ attribute: 'genkit:output', when: ['execute_tool'] }],
    input_content: ['genkit:input'],
    output_content: ['genkit:output'],
    retrieval_query: [{ attribute: 'genkit:input', when: ['retrieval', 'rerank', 'memory'] }],
    retrieval_documents: [
      { attribute: 'genkit:output', paths: ['documents'], when: ['retrieval', 'rerank', 'memory'] },
    ],
    finish_reason: [
      {
        attribute: 'genkit:output',
        paths: [
          'raw.choices[*].finish_reason',
          'custom.choices[*].finish_reason',
          'custom.candidates[*].finishReason',
          'raw.candidates[*].finishReason',
          'finishReason',
        ],
        when: ['chat'],
      },
    ],
    failed: ['genkit:state'],
    provider: [{ attribute: 'genkit:name', only: ['genkit'], when: ['chat', 'embeddings'], before: '/' }],
  },
  operations: {
    'genkit:type': {
      util: 'workflow',
      flow: 'workflow',
      flowStep: 'workflow',
      helper: 'workflow',
      promptTemplate: 'prompt',
      dotprompt: 'prompt',
      userEngagement: 'evaluation',
    },
    'genkit:metadata:subtype': {
      model: 'chat',
      tool: 'execute_tool',
      'tool.v2': 'execute_tool',
      flow: 'workflow',
      retriever: 'retrieval',
      indexer: 'other',
      embedder: 'embeddings',
      evaluator: 'evaluation',
      prompt: 'prompt',
      'executable-prompt': 'prompt',
      reranker: 'rerank',
      util: 'workflow',
    },
  },
  cachedTokens: [{ providers: ['anthropic'], cached: 'outside' }, { cached: 'inside' }],
  content: ['genkit:error', 'genkit:metadata:context'],
  sources: ['firebase/genkit: js/core/src/tracing'],
};
