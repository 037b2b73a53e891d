/** OpenRouter's broadcast: one root span that holds everything. */
import type { Dialect } from './dialect.ts';

export const OPENROUTER: Dialect = {
  id: 'openrouter',
  scopes: ['openrouter'],
  markers: ['trace.metadata.openrouter.*'],
  services: ['openrouter'],
  fields: {
    provider: ['trace.metadata.openrouter.provider_slug'],
    cache_write_tokens: ['gen_ai.usage.input_tokens.cache_creation'],
    cost_total: [
      'gen_ai.usage.total_cost',
      { attribute: 'trace.metadata.openrouter_generation.usage', excluded: true },
    ],
    cost_input: ['gen_ai.usage.input_cost'],
    cost_output: ['gen_ai.usage.output_cost'],
    user_id: ['trace.metadata.openrouter.user_id'],
    input_content: [{ attribute: 'trace.input', only: ['openrouter'] }],
    output_content: [{ attribute: 'trace.output', only: ['openrouter'] }],
    finish_reason: ['trace.metadata.openrouter.finish_reason'],
    time_to_first_token: [{ attribute: 'trace.metadata.openrouter.first_token_ms', unit: 'ms' }],
  },
  spanNames: { 'LLM Generation': 'chat', generation: 'workflow', 'provider attempt *': 'workflow' },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    {
      only: ['openrouter'],
      attributes: [
        'span.input',
        'span.output',
        'trace.metadata.provider_responses',
        'span.metadata.provider_responses',
        'span.metadata.openrouter_generation.*',
      ],
    },
  ],
  sources: ['OpenRouter documentation: broadcast'],
};
