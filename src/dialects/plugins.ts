/** Names seen from smaller producers. */
import type { Dialect } from './dialect.ts';

const LATITUDE: Dialect = {
  id: 'latitude',
  fields: {
    tags: ['latitude.tags'],
    metadata: ['latitude.metadata'],
  },
};

const OPENCLAW: Dialect = {
  id: 'openclaw',
  fields: {
    cost_cache_read: ['gen_ai.usage.cache_read.input_cost'],
    cost_cache_write: ['gen_ai.usage.cache_creation.input_cost'],
  },
};

const WEAVE: Dialect = {
  id: 'weave',
  fields: {
    cache_read_tokens: ['gen_ai.usage.input_tokens_details.cached_tokens'],
  },
};

export const PLUGINS_FAMILY: readonly Dialect[] = [LATITUDE, OPENCLAW, WEAVE];
