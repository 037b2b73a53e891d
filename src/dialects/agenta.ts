/** Agenta. */
import type { Dialect } from './dialect.ts';

export const AGENTA: Dialect = {
  id: 'agenta',
  scopes: ['agenta*'],
  markers: ['ag.type.node', 'ag.data.*'],
  fields: {
    operation: ['ag.type.node'],
    provider: ['ag.meta.provider', 'ag.meta.system'],
    request_model: ['ag.meta.request.model'],
    response_model: ['ag.meta.response.model'],
    input_tokens: ['ag.metrics.unit.tokens.prompt'],
    output_tokens: ['ag.metrics.unit.tokens.completion'],
    total_tokens: ['ag.metrics.unit.tokens.total'],
    conversation_id: ['ag.session.id'],
    user_id: ['ag.user.id'],
    tool_name: ['ag.meta.tool.name'],
    input_content: ['ag.data.inputs.*'],
    output_content: ['ag.data.outputs.*'],
  },
  operations: {
    'ag.type.node': {
      agent: 'invoke_agent',
      chain: 'workflow',
      workflow: 'workflow',
      task: 'workflow',
      tool: 'execute_tool',
      embedding: 'embeddings',
      query: 'retrieval',
      llm: 'chat',
      completion: 'text_completion',
      chat: 'chat',
      rerank: 'rerank',
      unknown: 'unknown',
    },
  },
  content: ['ag.data.*', 'ag.meta.request.headers'],
  sources: ['Agenta-AI/agenta: sdks/python'],
};
