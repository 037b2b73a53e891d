/** VoltAgent: general names, which are read only from records that have its own attributes. */
import type { Dialect, SourceRow } from './dialect.ts';

const own = (attribute: string, more: Partial<SourceRow> = {}): SourceRow => ({
  attribute,
  only: ['voltagent'],
  ...more,
});

export const VOLTAGENT: Dialect = {
  id: 'voltagent',
  markers: ['voltagent.*'],
  scopes: ['@voltagent/*'],
  fields: {
    // Every span of an agent has the type of its entity.
    operation: [own('span.type'), own('entity.type')],
    request_model: [own('ai.model.name'), own('llm.model')],
    input_tokens: [own('usage.prompt_tokens'), own('llm.usage.prompt_tokens')],
    output_tokens: [own('usage.completion_tokens'), own('llm.usage.completion_tokens')],
    total_tokens: [own('usage.total_tokens'), own('llm.usage.total_tokens')],
    cache_read_tokens: [own('usage.cached_tokens'), own('llm.usage.cached_tokens')],
    reasoning_tokens: [own('usage.reasoning_tokens'), own('llm.usage.reasoning_tokens')],
    conversation_id: ['voltagent.conversation_id', own('conversation.id')],
    agent_name: [own('entity.name')],
    tool_name: [own('tool.name')],
    tool_call_id: [own('tool.call.id')],
    tool_arguments: [own('input', { when: ['execute_tool'] })],
    tool_result: [own('output', { when: ['execute_tool'] })],
    retrieval_query: [own('input', { when: ['retrieval'] })],
    retrieval_documents: [own('output', { when: ['retrieval'] })],
    input_content: [own('agent.messages'), own('llm.messages'), own('input')],
    output_content: [own('output')],
    system_instructions: [own('agent.instructions')],
    finish_reason: ['ai.response.finish_reason'],
  },
  operations: {
    'span.type': {
      llm: 'chat',
      agent: 'invoke_agent',
      tool: 'execute_tool',
      retriever: 'retrieval',
      embedding: 'embeddings',
      memory: 'memory',
      guardrail: 'guardrail',
      scorer: 'evaluation',
      summary: 'workflow',
      vector: 'workflow',
      middleware: 'workflow',
      'workflow-step': 'workflow',
    },
    'entity.type': { agent: 'invoke_agent', workflow: 'workflow' },
  },
  cachedTokens: [{ cached: 'inside' }],

  sources: ['VoltAgent/voltagent: packages/core/src/agent/open-telemetry'],
};
