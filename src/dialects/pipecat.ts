/** Pipecat: voice pipelines, with bare attribute names. */
import type { Dialect } from './dialect.ts';

export const PIPECAT: Dialect = {
  id: 'pipecat',
  scopes: ['pipecat', 'pipecat.turn'],
  hints: ['metrics.ttfb', 'turn.number'],
  fields: {
    // From the second call on, the request model is the model that answered the call before.
    request_model: [
      { attribute: 'param.model', only: ['pipecat'] },
      { attribute: 'gen_ai.request.model', only: ['pipecat'], either: true },
    ],
    response_model: [{ attribute: 'gen_ai.request.model', only: ['pipecat'], either: true }],
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
