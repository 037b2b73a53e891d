/** Pydantic AI, and the provider integrations of Logfire by the same makers. */
import type { Dialect } from './dialect.ts';

export const PYDANTIC_AI: Dialect = {
  id: 'pydantic-ai',
  scopes: ['pydantic-ai'],
  markers: ['pydantic_ai.*'],
  hints: ['model_request_parameters', 'gen_ai.agent.call.id'],
  fields: {
    request_model: [{ attribute: 'model_name', only: ['pydantic-ai'] }],
    input_tokens: [{ attribute: 'gen_ai.aggregated_usage.input_tokens', aggregate: true }],
    output_tokens: [{ attribute: 'gen_ai.aggregated_usage.output_tokens', aggregate: true }],
    cache_read_tokens: [
      'gen_ai.usage.details.cache_read_tokens',
      'gen_ai.usage.details.cache_read_input_tokens',
      'gen_ai.aggregated_usage.cache_read.input_tokens',
      'gen_ai.aggregated_usage.details.cache_read_tokens',
    ],
    cache_write_tokens: [
      'gen_ai.usage.details.cache_write_tokens',
      'gen_ai.usage.details.cache_creation_input_tokens',
      'gen_ai.aggregated_usage.cache_creation.input_tokens',
    ],
    reasoning_tokens: [
      'gen_ai.usage.details.reasoning_tokens',
      'gen_ai.aggregated_usage.reasoning.output_tokens',
      'gen_ai.aggregated_usage.details.reasoning_tokens',
    ],
    audio_input_tokens: ['gen_ai.usage.details.input_audio_tokens'],
    audio_output_tokens: ['gen_ai.usage.details.output_audio_tokens'],
    audio_cache_read_tokens: ['gen_ai.usage.details.cache_audio_read_tokens'],
    cost_total: ['operation.cost'],
    agent_name: [{ attribute: 'agent_name', only: ['pydantic-ai'] }],
    tool_arguments: [{ attribute: 'tool_arguments', only: ['pydantic-ai'] }],
    tool_result: [{ attribute: 'tool_response', only: ['pydantic-ai'] }],
    input_content: [
      'pydantic_ai.all_messages',
      'all_messages_events',
      { attribute: 'events', only: ['pydantic-ai', 'logfire'] },
    ],
    output_content: [{ attribute: 'final_result', only: ['pydantic-ai'] }],
  },
  spanNames: {
    'agent run': 'invoke_agent',
    'running tool*': 'execute_tool',
    'running tools': 'workflow',
    'running * tools': 'workflow',
    'chat *': 'chat',
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    {
      only: ['pydantic-ai', 'logfire'],
      attributes: [
        'pydantic_ai.all_messages',
        'all_messages_events',
        'final_result',
        'tool_arguments',
        'tool_response',
        'model_request_parameters',
      ],
    },
  ],
  sources: ['pydantic/pydantic-ai: pydantic_ai_slim/pydantic_ai'],
};

export const LOGFIRE: Dialect = {
  id: 'logfire',
  scopes: ['logfire.*', 'logfire'],
  hints: ['logfire.msg', 'logfire.json_schema', 'request_data'],
  fields: {
    input_tokens: [{ attribute: 'gen_ai.usage.partial.input_tokens', excluded: true }],
    output_tokens: [{ attribute: 'gen_ai.usage.partial.output_tokens', excluded: true }],
    cache_read_tokens: [
      {
        attribute: 'gen_ai.usage.raw',
        paths: ['input_tokens_details.cached_tokens', 'prompt_tokens_details.cached_tokens', 'cache_read_input_tokens'],
      },
    ],
    cache_write_tokens: [{ attribute: 'gen_ai.usage.raw', paths: ['cache_creation_input_tokens'] }],
    reasoning_tokens: [
      {
        attribute: 'gen_ai.usage.raw',
        paths: ['output_tokens_details.reasoning_tokens', 'completion_tokens_details.reasoning_tokens'],
      },
    ],
    cache_write_5m_tokens: [
      { attribute: 'response_data', paths: ['usage.cache_creation.ephemeral_5m_input_tokens'] },
      { attribute: 'gen_ai.usage.raw', paths: ['cache_creation.ephemeral_5m_input_tokens'] },
    ],
    cache_write_1h_tokens: [
      { attribute: 'response_data', paths: ['usage.cache_creation.ephemeral_1h_input_tokens'] },
      { attribute: 'gen_ai.usage.raw', paths: ['cache_creation.ephemeral_1h_input_tokens'] },
    ],
    input_content: [{ attribute: 'request_data', paths: ['messages', 'input'], only: ['logfire'] }],
    output_content: [{ attribute: 'response_data', paths: ['message', 'combined_chunk_content'], only: ['logfire'] }],
    system_instructions: [{ attribute: 'request_data', paths: ['system'], only: ['logfire'] }],
    request_model: [{ attribute: 'request_data', paths: ['model'], only: ['logfire'] }],
  },
  cachedTokens: [{ cached: 'inside' }],
  callsHaveAnswers: true,
  ownUsageScopes: ['logfire.claude*'],
  content: [
    {
      only: ['logfire', 'pydantic-ai'],
      attributes: [
        'request_data',
        'response_data',
        'logfire.msg',
        'input',
        'output',
        'response',
        'raw_input',
        'instructions',
      ],
    },
  ],
  sources: ['pydantic/logfire: logfire/_internal/integrations'],
};
