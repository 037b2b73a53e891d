/** Weave of Weights & Biases. */
import type { Dialect } from './dialect.ts';

export const WEAVE: Dialect = {
  id: 'weave',
  fields: {
    cache_read_tokens: ['gen_ai.usage.input_tokens_details.cached_tokens'],
  },
  sources: ['wandb/weave: weave/trace_server/opentelemetry'],
};
