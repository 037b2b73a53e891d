/** Strands Agents, and what Amazon Bedrock AgentCore's distribution adds. */
import type { Dialect } from './dialect.ts';

const PYTHON = 'strands.telemetry.tracer';

export const STRANDS: Dialect = {
  id: 'strands',
  // The scope and provider of the TypeScript SDK are the name of the service.
  scopes: [PYTHON, 'strands-agents'],
  markers: [
    'gen_ai.provider.name=strands-agents',
    'gen_ai.system=strands-agents',
    'gen_ai.event.start_time',
    'event_loop.cycle_id',
    'agent_loop.cycle_id',
  ],
  fields: {
    cache_write_tokens: ['gen_ai.usage.cache_write_input_tokens'],
    input_content: ['gen_ai.agent.input'],
    system_instructions: ['system_prompt'],
    time_to_first_token: [{ attribute: 'gen_ai.server.time_to_first_token', unit: 'ms' }],
    failed: ['gen_ai.tool.status'],
  },
  operations: {
    'gen_ai.operation.name': {
      execute_node: 'workflow',
      'memory.search': 'memory',
      'memory.add': 'memory',
      'memory.inject': 'memory',
      'memory.extract': 'memory',
    },
  },
  spanNames: { execute_event_loop_cycle: 'workflow', execute_agent_loop_cycle: 'workflow' },
  messageEvents: { 'memory.query': { content: 'input' }, 'memory.results': { content: 'output' } },
  // Earlier releases leave cached tokens out of the input, which their totals show. Those of the TypeScript SDK do not.
  cachedTokens: [
    { scopes: [PYTHON], cached: 'inside' },
    { providers: ['anthropic', 'aws.bedrock'], cached: 'outside' },
    { cached: 'inside' },
  ],
  content: [
    { only: ['strands'], attributes: ['content'] },
    { events: ['memory.query', 'memory.results', 'memory.content'] },
  ],
  sources: [
    'strands-agents/sdk-python: src/strands/telemetry/tracer.py',
    'strands-agents/sdk-typescript: src/telemetry/tracer.ts',
  ],
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
