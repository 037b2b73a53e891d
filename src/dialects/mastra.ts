/** Mastra's OpenTelemetry exporter. */
import type { Dialect } from './dialect.ts';

const MASTRA: Dialect = {
  id: 'mastra',
  callsHaveUsage: true,
  markers: ['mastra.span.type', 'mastra.*'],
  fields: {
    operation: ['mastra.span.type'],
    cache_read_tokens: ['gen_ai.usage.cached_input_tokens'],
    cache_write_tokens: ['gen_ai.usage.cache_write_tokens'],
    audio_input_tokens: ['gen_ai.usage.audio_input_tokens'],
    audio_output_tokens: ['gen_ai.usage.audio_output_tokens'],
    time_to_first_token: [{ attribute: 'mastra.completion_start_time', unit: 'timestamp' }],
    user_id: ['mastra.metadata.userId'],
    conversation_id: ['mastra.metadata.threadId'],
    tool_arguments: [{ attribute: 'mastra.tool_call.input', when: ['execute_tool'] }],
    tool_result: ['mastra.tool_call.output'],
    input_content: ['mastra.model_generation.input', 'mastra.{k}.input'],
    output_content: ['mastra.{k}.output'],
  },
  operations: {
    'mastra.span.type': {
      model_generation: 'chat',
      model_inference: 'chat',
      model_step: 'workflow',
      model_chunk: 'event',
      tool_call: 'execute_tool',
      mcp_tool_call: 'execute_tool',
      agent_run: 'invoke_agent',
      workflow_run: 'workflow',
      workflow_step: 'workflow',
      processor_run: 'workflow',
      generic: 'workflow',
    },
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [{ on: ['span'], attributes: ['mastra.{k}.input', 'mastra.{k}.output', 'mastra.metadata.body'] }],
  sources: ['mastra-ai/mastra: observability/otel-exporter'],
};

export const MASTRA_FAMILY: readonly Dialect[] = [MASTRA];
