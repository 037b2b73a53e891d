/** LangWatch: inputs, outputs and metrics as typed JSON documents. */
import type { Dialect } from './dialect.ts';

export const LANGWATCH: Dialect = {
  id: 'langwatch',
  scopes: ['langwatch*'],
  markers: ['langwatch.*'],
  fields: {
    operation: ['langwatch.span.type'],
    input_tokens: [
      { attribute: 'langwatch.metrics', paths: ['value.promptTokens', 'value.prompt_tokens', 'promptTokens'] },
    ],
    output_tokens: [
      {
        attribute: 'langwatch.metrics',
        paths: ['value.completionTokens', 'value.completion_tokens', 'completionTokens'],
      },
    ],
    reasoning_tokens: [{ attribute: 'langwatch.metrics', paths: ['value.reasoningTokens', 'value.reasoning_tokens'] }],
    cost_total: [{ attribute: 'langwatch.metrics', paths: ['value.cost', 'cost'] }, 'langwatch.span.cost'],
    conversation_id: ['langwatch.thread.id', 'langwatch.thread_id'],
    user_id: ['langwatch.user.id', 'langwatch.user_id'],
    input_content: ['langwatch.input'],
    output_content: ['langwatch.output'],
    retrieval_documents: ['langwatch.rag.contexts'],
    time_to_first_token: [
      { attribute: 'langwatch.metrics', paths: ['value.firstTokenMs', 'value.first_token_ms'], unit: 'ms' },
      { attribute: 'langwatch.timestamps', paths: ['first_token_at', 'firstTokenAt'], unit: 'timestamp' },
    ],
  },
  operations: {
    'langwatch.span.type': {
      llm: 'chat',
      tool: 'execute_tool',
      agent: 'invoke_agent',
      chain: 'workflow',
      rag: 'retrieval',
      guardrail: 'guardrail',
      evaluation: 'evaluation',
      prompt: 'prompt',
      workflow: 'workflow',
      component: 'workflow',
      module: 'workflow',
      span: 'workflow',
    },
  },
  content: ['langwatch.params', 'langwatch.rag_contexts', 'langwatch.prompt.variables', 'langwatch.evaluation.custom'],
  sources: ['langwatch/langwatch: sdks'],
};
