/** Mastra's OpenTelemetry exporter. */
import type { Dialect } from './dialect.ts';

export const MASTRA: Dialect = {
  id: 'mastra',
  callsHaveUsage: true,
  markers: ['mastra.span.type', 'mastra.*'],
  fields: {
    // Releases before version 1 have names of their own.
    operation: ['mastra.span.type', 'mastra.operationId'],
    provider: ['aisdk.model.provider'],
    request_model: ['aisdk.model.id'],
    input_tokens: [{ attribute: 'stream.usage.inputTokens', only: ['mastra'] }],
    output_tokens: [{ attribute: 'stream.usage.outputTokens', only: ['mastra'] }],
    total_tokens: [{ attribute: 'stream.usage.totalTokens', only: ['mastra'] }],
    reasoning_tokens: [{ attribute: 'stream.usage.reasoningTokens', only: ['mastra'] }],
    cache_read_tokens: [
      'gen_ai.usage.cached_input_tokens',
      { attribute: 'stream.usage.cachedInputTokens', only: ['mastra'] },
    ],
    cache_write_tokens: ['gen_ai.usage.cache_write_tokens'],
    audio_input_tokens: ['gen_ai.usage.audio_input_tokens'],
    audio_output_tokens: ['gen_ai.usage.audio_output_tokens'],
    time_to_first_token: [{ attribute: 'mastra.completion_start_time', unit: 'timestamp' }],
    finish_reason: [{ attribute: 'stream.response.finishReason', only: ['mastra'] }],
    user_id: ['mastra.metadata.userId', { attribute: 'stream.telemetry.metadata.userId', only: ['mastra'] }],
    conversation_id: [
      'mastra.metadata.threadId',
      { attribute: 'stream.telemetry.metadata.threadId', only: ['mastra'] },
    ],
    tool_arguments: [{ attribute: 'mastra.tool_call.input', when: ['execute_tool'] }],
    tool_result: ['mastra.tool_call.output'],
    input_content: [
      'mastra.model_generation.input',
      'mastra.{k}.input',
      { attribute: 'stream.prompt.messages', only: ['mastra'] },
    ],
    output_content: [
      'mastra.{k}.output',
      { attribute: 'stream.response.text', only: ['mastra'] },
      { attribute: 'stream.response.toolCalls', only: ['mastra'] },
    ],
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
    'mastra.operationId': {
      'mastra.stream': 'workflow',
      'mastra.generate': 'workflow',
      'mastra.stream.tripwire': 'workflow',
      'mastra.stream.aisdk.doStream': 'chat',
      'mastra.generate.aisdk.doStream': 'chat',
      'mastra.generate.aisdk.doGenerate': 'chat',
      'mastra.stream.toolCall': 'execute_tool',
      'mastra.generate.toolCall': 'execute_tool',
    },
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'mastra.metadata.body',
    {
      only: ['mastra'],
      attributes: [
        'stream.prompt.toolChoice',
        'stream.response.providerMetadata',
        'stream.toolCall.args',
        'stream.toolCall.result',
      ],
    },
    { secret: true, only: ['mastra'], attributes: ['stream.request.headers.{k}'] },
  ],
  sources: ['mastra-ai/mastra: observability/otel-exporter'],
};
