/** The Langfuse SDKs: usage and cost as JSON documents, token counts as buckets that do not overlap. */
import type { Dialect } from './dialect.ts';

export const LANGFUSE: Dialect = {
  id: 'langfuse',
  namedBySpan: ['execute_tool', 'invoke_agent'],
  scopes: ['langfuse-sdk'],
  markers: ['langfuse.observation.*'],
  hints: ['langfuse.trace.*'],
  fields: {
    operation: ['langfuse.observation.type'],
    provider: [{ attribute: 'langfuse.observation.metadata.ls_provider', paths: ['$'] }],
    request_model: [
      { attribute: 'langfuse.observation.metadata.ls_model_name', paths: ['$'] },
      { attribute: 'langfuse.observation.model.name', either: true },
    ],
    response_model: [{ attribute: 'langfuse.observation.model.name', either: true }],
    response_id: [{ attribute: 'langfuse.observation.metadata.id', paths: ['$'], only: ['langfuse'], when: ['chat'] }],
    finish_reason: [
      { attribute: 'langfuse.observation.metadata.finish_reason', paths: ['$'] },
      { attribute: 'langfuse.observation.metadata.status', paths: ['$'], when: ['chat'], only: ['langfuse'] },
      {
        attribute: 'langfuse.observation.output',
        when: ['chat'],
        paths: ['response_metadata.finish_reason', 'response_metadata.stop_reason', 'additional_kwargs.finish_reason'],
      },
    ],
    tool_call_id: [{ attribute: 'langfuse.observation.metadata.tool_call_id', paths: ['$'] }],
    input_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: ['input', 'input_tokens', 'prompt_tokens', 'promptTokens'],
      },
    ],
    output_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: ['output', 'output_tokens', 'completion_tokens', 'completionTokens'],
      },
    ],
    total_tokens: [
      { attribute: 'langfuse.observation.usage_details', paths: ['total', 'total_tokens', 'totalTokens'] },
    ],
    cache_read_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: [
          'input_cache_read',
          'input_cached_tokens',
          'prompt_tokens_details.cached_tokens',
          'input_tokens_details.cached_tokens',
        ],
      },
      // The usage of Anthropic as it is. Gateways that speak OpenAI's format add the name to theirs.
      { attribute: 'langfuse.observation.usage_details', paths: ['cache_read_input_tokens'], proves: 'outside' },
    ],
    cache_write_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: ['input_cache_creation', 'cache_creation_input_tokens', 'input_cache_write'],
      },
    ],
    cache_write_5m_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: [
          'cache_creation_ephemeral_5m_input_tokens',
          'input_cache_creation_ephemeral_5m_input_tokens',
          'input_ephemeral_5m_input_tokens',
          'ephemeral_5m_input_tokens',
        ],
      },
    ],
    cache_write_1h_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: [
          'cache_creation_ephemeral_1h_input_tokens',
          'input_cache_creation_ephemeral_1h_input_tokens',
          'input_ephemeral_1h_input_tokens',
          'ephemeral_1h_input_tokens',
        ],
      },
    ],
    reasoning_tokens: [
      {
        attribute: 'langfuse.observation.usage_details',
        paths: [
          'output_reasoning',
          'output_reasoning_tokens',
          'completion_tokens_details.reasoning_tokens',
          'output_tokens_details.reasoning_tokens',
        ],
      },
    ],
    audio_input_tokens: [
      { attribute: 'langfuse.observation.usage_details', paths: ['input_audio', 'input_audio_tokens'] },
    ],
    image_input_tokens: [
      { attribute: 'langfuse.observation.usage_details', paths: ['input_image', 'input_image_tokens'] },
    ],
    audio_output_tokens: [
      { attribute: 'langfuse.observation.usage_details', paths: ['output_audio', 'output_audio_tokens'] },
    ],
    image_output_tokens: [
      { attribute: 'langfuse.observation.usage_details', paths: ['output_image', 'output_image_tokens'] },
    ],
    cost_total: [{ attribute: 'langfuse.observation.cost_details', paths: ['total'] }],
    cost_input: [{ attribute: 'langfuse.observation.cost_details', paths: ['input'] }],
    cost_output: [{ attribute: 'langfuse.observation.cost_details', paths: ['output'] }],
    conversation_id: ['langfuse.session.id'],
    user_id: ['langfuse.user.id'],
    agent_name: [{ attribute: 'langfuse.trace.name', last: true }],
    tool_arguments: [{ attribute: 'langfuse.observation.input', when: ['execute_tool'] }],
    tool_result: [{ attribute: 'langfuse.observation.output', when: ['execute_tool'] }],
    input_content: ['langfuse.observation.input'],
    output_content: ['langfuse.observation.output'],
    retrieval_query: [{ attribute: 'langfuse.observation.input', when: ['retrieval', 'rerank', 'memory'] }],
    retrieval_documents: [{ attribute: 'langfuse.observation.output', when: ['retrieval', 'rerank', 'memory'] }],
    time_to_first_token: [{ attribute: 'langfuse.observation.completion_start_time', unit: 'timestamp' }],
    failed: ['langfuse.observation.level'],
  },
  operations: {
    'langfuse.observation.type': {
      generation: 'chat',
      embedding: 'embeddings',
      span: 'workflow',
      agent: 'invoke_agent',
      tool: 'execute_tool',
      chain: 'workflow',
      retriever: 'retrieval',
      evaluator: 'evaluation',
      guardrail: 'guardrail',
      event: 'event',
    },
  },
  content: [
    'langfuse.trace.input',
    'langfuse.trace.output',
    'langfuse.experiment.item.expected_output',
    'langfuse.experiment.item.metadata',
    'langfuse.observation.status_message',
    'langfuse.observation.metadata',
    'langfuse.observation.metadata.{k}',
    'langfuse.trace.metadata',
    'langfuse.trace.metadata.{k}',
  ],
  sources: [
    'langfuse/langfuse-python: langfuse/_client/attributes.py',
    'langfuse/langfuse-js: packages/core/src/constants.ts',
  ],
};
