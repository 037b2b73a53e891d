/** Smaller producers. Those without fields are read like records of the conventions. */
import type { Dialect } from './dialect.ts';

const LATITUDE: Dialect = {
  id: 'latitude',
};

const OPENCLAW: Dialect = {
  id: 'openclaw',
};

const WEAVE: Dialect = {
  id: 'weave',
  fields: {
    cache_read_tokens: ['gen_ai.usage.input_tokens_details.cached_tokens'],
  },
};

export const PLUGINS_FAMILY: readonly Dialect[] = [LATITUDE, OPENCLAW, WEAVE];
