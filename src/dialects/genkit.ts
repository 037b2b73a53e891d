/** Genkit: names with colons, usage inside the output document. */
import type { Dialect } from './dialect.ts';

const GENKIT: Dialect = {
  id: 'genkit',
  scopes: ['genkit-tracer', 'genkit-go'],
  markers: ['genkit:*'],
  fields: {
    operation: ['genkit:metadata:subtype'],
    request_model: [{ attribute: 'genkit:name', only: ['genkit'], when: ['chat', 'embeddings'], after: '/' }],
    response_model: [{ attribute: 'genkit:output', paths: ['custom.model', 'raw.model'] }],
    input_tokens: [
      { attribute: 'genkit:output', paths: ['usage.inputTokens'] },
      { attribute: 'inputTokens', only: ['genkit'] },
    ],
    output_tokens: [{ attribute: 'genkit:output', paths: ['usage.outputTokens'] }],
    total_tokens: [{ attribute: 'genkit:output', paths: ['usage.totalTokens'] }],
    cache_read_tokens: [
      { attribute: 'genkit:output', paths: ['usage.cachedContentTokens', 'usage.custom.cache_read_input_tokens'] },
    ],
    cache_write_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.cache_creation_input_tokens'] }],
    cache_write_5m_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.ephemeral_5m_input_tokens'] }],
    cache_write_1h_tokens: [{ attribute: 'genkit:output', paths: ['usage.custom.ephemeral_1h_input_tokens'] }],
    reasoning_tokens: [{ attribute: 'genkit:output', paths: ['usage.thoughtsTokens'] }],
    conversation_id: ['genkit:sessionId', 'genkit:threadName'],
    workflow_name: ['genkit:metadata:flow:name'],
    tool_name: [{ attribute: 'genkit:name', only: ['genkit'], when: ['execute_tool'] }],
    tool_arguments: [{ attribute: 'genkit:input', when: ['execute_tool'] }],
    tool_result: [{ attribute: 'genkit:output', when: ['execute_tool'] }],
    input_content: ['genkit:input'],
    output_content: ['genkit:output'],
    retrieval_query: [{ attribute: 'genkit:input', when: ['retrieval', 'rerank', 'memory'] }],
    retrieval_documents: [
      { attribute: 'genkit:output', paths: ['documents'], when: ['retrieval', 'rerank', 'memory'] },
    ],
    finish_reason: [{ attribute: 'genkit:output', paths: ['finishReason'] }],
    failed: ['genkit:state'],
    provider: [{ attribute: 'genkit:name', only: ['genkit'], when: ['chat', 'embeddings'], before: '/' }],
  },
  operations: {
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
  content: [
    {
      kind: 'mixed',
      on: ['span'],
      attributes: ['genkit:input', 'genkit:output', 'genkit:error', 'genkit:metadata:context'],
    },
  ],
  sources: ['firebase/genkit: js/core/src/tracing'],
};

export const GENKIT_FAMILY: readonly Dialect[] = [GENKIT];
