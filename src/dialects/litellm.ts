/** The LiteLLM proxy and library. */
import type { Dialect } from './dialect.ts';

export const LITELLM: Dialect = {
  id: 'litellm',
  scopes: ['litellm'],
  hints: ['hidden_params', 'metadata.user_api_key_*', 'gen_ai.cost.total_cost'],
  fields: {
    cost_total: ['gen_ai.cost.total_cost'],
    cost_input: ['gen_ai.cost.input_cost'],
    cost_output: ['gen_ai.cost.output_cost'],
    user_id: [
      { attribute: 'metadata.user_api_key_end_user_id', general: 'shared' },
      { attribute: 'metadata.user_api_key_user_id', general: 'shared', last: true },
    ],
  },
  spanNames: { litellm_request: 'chat', raw_gen_ai_request: 'workflow', 'Received Proxy Server Request': 'workflow' },
  cachedTokens: [{ cached: 'inside' }],
  content: [
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
  sources: ['BerriAI/litellm: litellm/integrations/opentelemetry.py'],
};
