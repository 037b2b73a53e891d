/** TanStack AI. */
import type { Dialect } from './dialect.ts';

const TANSTACK: Dialect = {
  id: 'tanstack',
  scopes: ['@tanstack/ai*'],
  markers: ['tanstack.ai.*'],
  cachedTokens: [{ cached: 'inside' }],
  repeatsWithoutOperation: true,
  content: ['tanstack.ai.system_prompt.metadata'],
  sources: ['TanStack/ai: packages/ai/src/middlewares'],
};

export const TANSTACK_FAMILY: readonly Dialect[] = [TANSTACK];
