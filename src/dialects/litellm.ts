/** The LiteLLM proxy and library. */
import type { Dialect } from './dialect.ts';

export const LITELLM: Dialect = {
  id: 'litellm',
  scopes: ['litellm'],
  markers: ['litellm.*'],
  hints: ['hidden_params', 'metadata.user_api_key_*', 'gen_ai.cost.total_cost'],
  fields: {
    cost_total: ['litellm.cost.total', 'gen_ai.cost.total_cost'],
    cost_input: ['litellm.cost.input', 'gen_ai.cost.input_cost'],
    cost_output: ['litellm.cost.output', 'gen_ai.cost.output_cost'],
    user_id: [
      'litellm.end_user.id',
      'litellm.metadata.user_api_key_end_user_id',
      { attribute: 'litellm.metadata.user_api_key_user_id', last: true },
      { attribute: 'metadata.user_api_key_end_user_id', general: 'shared' },
      { attribute: 'metadata.user_api_key_user_id', general: 'shared', last: true },
    ],
  },
  spanNames: {
    litellm_request: 'chat',
    raw_gen_ai_request: 'workflow',
    'Received Proxy Server Request': 'workflow',
    'execute_guardrail*': 'guardrail',
  },
  // Version 2 of its integration puts the model of the request on every span of the proxy.
  repeatsWithoutOperation: true,
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'gen_ai.tool.{i}.description',
    'gen_ai.tool.{i}.parameters',
    'litellm.guardrail.response',
    {
      only: ['litellm'],
      attributes: [
        'llm.{k}.*',
        'gen_ai.completion.{i}.function_call.arguments',
        'guardrail_response',
        'metadata.{k}',
        'hidden_params',
        'proxy_server_request',
        'messages',
        'response',
      ],
    },
  ],
  sources: ['BerriAI/litellm: litellm/integrations/opentelemetry.py', 'BerriAI/litellm: litellm/integrations/otel'],
};
