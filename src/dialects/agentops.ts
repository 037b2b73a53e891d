/** AgentOps. */
import type { Dialect } from './dialect.ts';

export const AGENTOPS: Dialect = {
  id: 'agentops',
  scopes: ['agentops*'],
  markers: ['agentops.span.kind'],
  fields: {
    operation: ['agentops.span.kind'],
    conversation_id: [{ attribute: 'workflow.session_id', general: 'shared' }],
    user_id: [{ attribute: 'workflow.user_id', general: 'shared' }],
    agent_name: [
      { attribute: 'agent.role', general: 'shared' },
      { attribute: 'operation.name', only: ['agentops'], when: ['invoke_agent'] },
    ],
    tool_name: [{ attribute: 'operation.name', only: ['agentops'], when: ['execute_tool'] }],
    tool_result: ['tool.result', 'agentops.tool.output'],
    tool_arguments: [{ attribute: 'tool.parameters', only: ['agentops'] }, 'agentops.tool.input'],
    input_content: ['agentops.entity.input', 'agentops.{k}.input'],
    output_content: ['agentops.entity.output', 'agentops.{k}.output'],
    system_instructions: [
      'gen_ai.request.instructions',
      'gen_ai.openai.instructions',
      'gen_ai.request.system_instruction',
    ],
    time_to_first_token: [{ attribute: 'gen_ai.streaming.time_to_first_token', unit: 's' }],
  },
  operations: {
    'agentops.span.kind': {
      llm: 'chat',
      'llm.call': 'chat',
      agent: 'invoke_agent',
      tool: 'execute_tool',
      workflow: 'workflow',
      session: 'session',
      task: 'workflow',
      operation: 'workflow',
      chain: 'workflow',
      guardrail: 'guardrail',
    },
  },
  cachedTokens: [{ providers: ['anthropic'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    'agentops.{k}.spec',
    'gen_ai.request.tools.{i}.*',
    'gen_ai.request.functions',
    'gen_ai.request.functions.{i}.*',
    'gen_ai.completion.chunk',
    'agent.reasoning',
    'tool.parameters',
    'workflow.input',
    'workflow.output',
    'workflow.final_output',
    'http.request.body',
    'http.response.body',
    { secret: true, attributes: ['gen_ai.request.headers', 'http.request.headers', 'http.response.headers'] },
  ],
  sources: ['AgentOps-AI/agentops: agentops/semconv'],
};
