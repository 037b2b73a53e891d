/** TanStack AI. Its middleware uses a tracer of the application, so the scope has any name. */
import type { Dialect, SourceRow } from './dialect.ts';

const toolMessage = (attribute: string): SourceRow => ({
  attribute,
  only: ['tanstack'],
  when: ['execute_tool'],
  paths: ['[0].content'],
});

export const TANSTACK: Dialect = {
  id: 'tanstack',
  scopes: ['@tanstack/ai*'],
  markers: ['tanstack.ai.*'],
  fields: {
    // Arguments and results of tools are the content of one message.
    tool_arguments: [toolMessage('gen_ai.input.messages')],
    tool_result: [toolMessage('gen_ai.output.messages')],
  },
  cachedTokens: [{ cached: 'inside' }],
  repeatsWithoutOperation: true,
  content: ['tanstack.ai.system_prompt.metadata'],
  sources: ['TanStack/ai: packages/ai/src/middlewares; recorded from @tanstack/ai 0.58'],
};
