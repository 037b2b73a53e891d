/** AG2: the middleware of release 1, and the instrumentation of the releases before. */
import type { Dialect } from './dialect.ts';

export const AG2: Dialect = {
  id: 'ag2',
  scopes: ['opentelemetry.instrumentation.ag2'],
  markers: ['ag2.span.type'],
  fields: {
    operation: ['ag2.usage.kind'],
    cache_read_tokens: ['gen_ai.usage.cache_read_input_tokens'],
    cache_write_tokens: ['gen_ai.usage.cache_creation_input_tokens'],
    reasoning_tokens: [{ attribute: 'gen_ai.usage.thinking_tokens', only: ['ag2'] }],
    total_tokens: ['ag2.usage.total_tokens'],
    agent_name: [{ attribute: 'ag2.usage.label', general: 'shared' }],
    tool_result: ['ag2.code_execution.output'],
  },
  operations: {
    // What no span of a call reports: the history of a conversation made shorter, and what a memory is made of.
    'ag2.usage.kind': { model_call: 'other', subtask: 'workflow', compaction: 'chat', aggregation: 'chat' },
    'gen_ai.operation.name': {
      conversation: 'workflow',
      initiate_chats: 'workflow',
      speaker_selection: 'workflow',
      execute_code: 'execute_tool',
      await_human_input: 'other',
    },
  },
  repeatedUsage: ['other'],
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  reasoningOutside: ['gcp.gemini', 'gcp.vertex_ai'],
  content: ['ag2.human_input.prompt', 'ag2.human_input.response', 'ag2.chats.summaries'],
  sources: ['ag2ai/ag2: ag2/middleware/builtin/telemetry.py; autogen/opentelemetry'],
};
