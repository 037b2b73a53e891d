/** Strands Agents, and what Amazon Bedrock AgentCore's distribution adds. */
import type { Dialect } from './dialect.ts';

export const STRANDS: Dialect = {
  id: 'strands',
  scopes: ['strands.telemetry.tracer', 'strands-agents'],
  markers: ['gen_ai.provider.name=strands-agents', 'gen_ai.system=strands-agents', 'event_loop.cycle_id'],
  fields: {
    cache_write_tokens: ['gen_ai.usage.cache_write_input_tokens'],
    system_instructions: ['system_prompt'],
    time_to_first_token: [{ attribute: 'gen_ai.server.time_to_first_token', unit: 'ms' }],
    failed: ['gen_ai.tool.status'],
  },
  spanNames: { execute_event_loop_cycle: 'workflow' },
  // Earlier releases leave cached tokens out of the input, which their totals show.
  cachedTokens: [{ cached: 'inside' }],

  sources: ['strands-agents/sdk-python: src/strands/telemetry/tracer.py'],
};

export const AGENTCORE: Dialect = {
  id: 'agentcore',
  hints: ['aws.bedrock.agentcore.*', 'aws.agentcore.*'],
  relocatesMessages: true,
  fields: {
    input_content: [{ attribute: '(body)', on: 'log', only: ['agentcore'], paths: ['input.messages'] }],
    output_content: [{ attribute: '(body)', on: 'log', only: ['agentcore'], paths: ['output.messages'] }],
  },
  sources: ['aws-observability/aws-otel-python-instrumentation'],
};
