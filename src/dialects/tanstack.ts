/** TanStack AI. */
import type { Dialect } from './dialect.ts';

export const TANSTACK: Dialect = {
  id: 'tanstack',
  scopes: ['@tanstack/ai*'],
  markers: ['tanstack.ai.*'],
  cachedTokens: [{ cached: 'inside' }],
  repeatsWithoutOperation: true,
  content: ['tanstack.ai.system_prompt.metadata'],
  sources: ['TanStack/ai: packages/ai/src/middlewares'],
};
