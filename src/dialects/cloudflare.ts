/** AI gateways with names of their own: Cloudflare, Envoy. */
import type { Dialect } from './dialect.ts';

export const CLOUDFLARE: Dialect = {
  id: 'cloudflare',
  hints: ['gen_ai.model.provider', 'gen_ai.prompt_json'],
  fields: {
    provider: ['gen_ai.model.provider'],
    user_id: [{ attribute: 'user_id', only: ['cloudflare', 'pipecat'] }],
    input_content: ['gen_ai.prompt_json'],
    output_content: ['gen_ai.completion_json'],
  },

  sources: ['cloudflare/cloudflare-docs: ai-gateway'],
};

export const ENVOY_AI_GATEWAY: Dialect = {
  id: 'envoy-ai-gateway',
  fields: {
    request_model: ['gen_ai.original.model'],
  },
  cachedTokens: [{ cached: 'inside' }],
  sources: ['envoyproxy/ai-gateway: internal/metrics'],
};
