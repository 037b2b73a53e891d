/** Google's Agent Development Kit: requests and responses as JSON documents. */
import type { Dialect } from './dialect.ts';

const GOOGLE_ADK: Dialect = {
  id: 'google-adk',
  scopes: ['gcp.vertex.agent'],
  markers: ['gcp.vertex.agent.*', 'gen_ai.system=gcp.vertex.agent'],
  fields: {
    request_model: [{ attribute: 'gcp.vertex.agent.llm_request', paths: ['model'] }],
    response_model: [{ attribute: 'gcp.vertex.agent.llm_response', paths: ['model_version'] }],
    input_tokens: [{ attribute: 'gcp.vertex.agent.llm_response', paths: ['usage_metadata.prompt_token_count'] }],
    output_tokens: [{ attribute: 'gcp.vertex.agent.llm_response', paths: ['usage_metadata.candidates_token_count'] }],
    cache_read_tokens: [
      'gen_ai.usage.experimental.cached_tokens',
      { attribute: 'gcp.vertex.agent.llm_response', paths: ['usage_metadata.cached_content_token_count'] },
    ],
    reasoning_tokens: [
      { attribute: 'gen_ai.usage.experimental.reasoning_tokens', proves: 'outside' },
      { attribute: 'gcp.vertex.agent.llm_response', paths: ['usage_metadata.thoughts_token_count'] },
    ],
    conversation_id: ['gcp.vertex.agent.session_id'],
    tool_call_id: ['gen_ai.tool_call.id'],
    tool_arguments: ['gcp.vertex.agent.tool_call_args'],
    tool_result: ['gcp.vertex.agent.tool_response'],
    input_content: ['gcp.vertex.agent.llm_request'],
    output_content: ['gcp.vertex.agent.llm_response'],
    system_instructions: [{ attribute: 'gcp.vertex.agent.llm_request', paths: ['config.system_instruction'] }],
    finish_reason: [{ attribute: 'gcp.vertex.agent.llm_response', paths: ['finish_reason'] }],
  },
  spanNames: { call_llm: 'chat', 'execute_tool (merged tools)': 'workflow', send_data: 'other' },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    {
      on: ['span'],
      attributes: [
        'gcp.vertex.agent.llm_request',
        'gcp.vertex.agent.llm_response',
        'gcp.vertex.agent.tool_call_args',
        'gcp.vertex.agent.tool_response',
        'gcp.vertex.agent.data',
      ],
    },
  ],
  sources: ['google/adk-python: src/google/adk/telemetry', 'google/adk-java', 'google/adk-go'],
};

export const GOOGLE_ADK_FAMILY: readonly Dialect[] = [GOOGLE_ADK];
