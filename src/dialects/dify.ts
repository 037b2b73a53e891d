/** Dify. */
import type { Dialect } from './dialect.ts';

export const DIFY: Dialect = {
  id: 'dify',
  scopes: ['dify*'],
  markers: ['gen_ai.framework=dify'],
  hints: ['dify.app_id'],
  fields: {
    retrieval_query: ['retrieval.query'],
    retrieval_documents: ['retrieval.document'],
    time_to_first_token: [{ attribute: 'gen_ai.user.time_to_first_token', unit: 'ns' }],
  },

  sources: ['langgenius/dify: api/extensions/otel'],
};
