/** The OpenTelemetry exporters of LangSmith: whole inputs and outputs on every run. */
import type { Dialect } from './dialect.ts';

export const LANGSMITH: Dialect = {
  id: 'langsmith',
  namedBySpan: ['execute_tool', 'invoke_agent', 'retrieval'],
  scopes: ['langsmith'],
  markers: ['langsmith.span.kind', 'langsmith.trace.id'],
  fields: {
    operation: [{ attribute: 'langsmith.span.kind', only: ['langsmith'] }],
    provider: ['langsmith.metadata.ls_provider'],
    request_model: ['langsmith.metadata.ls_model_name'],
    tool_arguments: [{ attribute: 'gen_ai.prompt', only: ['langsmith'], when: ['execute_tool'] }],
    tool_result: [{ attribute: 'gen_ai.completion', only: ['langsmith'], when: ['execute_tool'] }],
    retrieval_query: [{ attribute: 'gen_ai.prompt', only: ['langsmith'], when: ['retrieval'] }],
    retrieval_documents: [{ attribute: 'gen_ai.completion', only: ['langsmith'], when: ['retrieval'] }],
    response_model: [
      {
        attribute: 'gen_ai.completion',
        only: ['langsmith'],
        when: ['chat'],
        paths: ['model', 'generations[0][0].message.kwargs.response_metadata.model_name', 'llm_output.model_name'],
      },
    ],
    response_id: [
      {
        attribute: 'gen_ai.completion',
        only: ['langsmith'],
        when: ['chat'],
        paths: ['id', 'llm_output.id', 'generations[0][0].message.kwargs.response_metadata.id'],
      },
    ],
    finish_reason: [
      {
        attribute: 'gen_ai.completion',
        only: ['langsmith'],
        when: ['chat'],
        paths: [
          'choices[*].finish_reason',
          'stop_reason',
          'generations[*][*].generation_info.finish_reason',
          'generations[*][*].message.kwargs.response_metadata.stop_reason',
          'status',
        ],
      },
    ],
    input_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['input_tokens'] },
      { attribute: 'langsmith.usage_metadata', paths: ['input_tokens'] },
    ],
    output_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['output_tokens'] },
      { attribute: 'langsmith.usage_metadata', paths: ['output_tokens'] },
    ],
    total_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['total_tokens'] },
      { attribute: 'langsmith.usage_metadata', paths: ['total_tokens'] },
    ],
    cache_read_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['input_token_details.cache_read'] },
      { attribute: 'gen_ai.usage.input_token_details', paths: ['cache_read'] },
      { attribute: 'langsmith.usage_metadata', paths: ['input_token_details.cache_read'] },
    ],
    cache_write_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['input_token_details.cache_creation'] },
      { attribute: 'gen_ai.usage.input_token_details', paths: ['cache_creation'] },
      { attribute: 'langsmith.usage_metadata', paths: ['input_token_details.cache_creation'] },
    ],
    cache_write_5m_tokens: [
      { attribute: 'gen_ai.usage.input_token_details', paths: ['ephemeral_5m_input_tokens'] },
      { attribute: 'langsmith.usage_metadata', paths: ['input_token_details.ephemeral_5m_input_tokens'] },
    ],
    cache_write_1h_tokens: [
      { attribute: 'gen_ai.usage.input_token_details', paths: ['ephemeral_1h_input_tokens'] },
      { attribute: 'langsmith.usage_metadata', paths: ['input_token_details.ephemeral_1h_input_tokens'] },
    ],
    reasoning_tokens: [
      { attribute: 'langsmith.metadata.usage_metadata', paths: ['output_token_details.reasoning'] },
      { attribute: 'gen_ai.usage.output_token_details', paths: ['reasoning'] },
      { attribute: 'langsmith.usage_metadata', paths: ['output_token_details.reasoning'] },
    ],
    audio_input_tokens: [{ attribute: 'gen_ai.usage.input_token_details', paths: ['audio'] }],
    image_input_tokens: [{ attribute: 'gen_ai.usage.input_token_details', paths: ['image'] }],
    audio_output_tokens: [{ attribute: 'gen_ai.usage.output_token_details', paths: ['audio'] }],
    image_output_tokens: [{ attribute: 'gen_ai.usage.output_token_details', paths: ['image'] }],
    conversation_id: [
      'langsmith.metadata.session_id',
      'langsmith.metadata.thread_id',
      'langsmith.metadata.conversation_id',
      { attribute: 'langsmith.trace.session_id', excluded: true },
    ],
    user_id: ['langsmith.metadata.user_id'],
  },
  operations: {
    'langsmith.span.kind': {
      llm: 'chat',
      chain: 'workflow',
      tool: 'execute_tool',
      retriever: 'retrieval',
      embedding: 'embeddings',
      prompt: 'prompt',
      parser: 'workflow',
    },
  },
  cachedTokens: [{ cached: 'inside' }],
  content: ['langsmith.metadata.{k}'],
  sources: [
    'langchain-ai/langsmith-sdk: python/langsmith/_internal/otel',
    'langchain-ai/langsmith-sdk: js/src/experimental/otel',
  ],
};
