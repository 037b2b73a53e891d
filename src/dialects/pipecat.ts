/** Pipecat: voice pipelines, with bare attribute names. */
import type { Dialect } from './dialect.ts';

export const PIPECAT: Dialect = {
  id: 'pipecat',
  scopes: ['pipecat', 'pipecat.turn'],
  hints: ['metrics.ttfb', 'turn.number'],
  fields: {
    input_content: [{ attribute: 'input', only: ['pipecat'] }],
    output_content: [{ attribute: 'output', only: ['pipecat'] }],
    system_instructions: [{ attribute: 'system', only: ['pipecat'] }],
    time_to_first_token: [{ attribute: 'metrics.ttfb', unit: 's' }],
  },
  spanNames: { conversation: 'session', turn: 'workflow' },
  cachedTokens: [{ providers: ['anthropic'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    {
      only: ['pipecat'],
      attributes: ['tools', 'tools.definitions', 'text', 'transcript', 'text_output', 'function_calls.*'],
    },
  ],
  sources: ['pipecat-ai/pipecat: src/pipecat/utils/tracing'],
};
