/** LangWatch: inputs, outputs and metrics as typed JSON documents. */
import type { Dialect } from './dialect.ts';

export const LANGWATCH: Dialect = {
  id: 'langwatch',
  namedBySpan: ['execute_tool', 'invoke_agent'],
  scopes: ['langwatch*'],
  markers: ['langwatch.*'],
  fields: {
    operation: ['langwatch.span.type'],
    // The model is named `openai/gpt-4o-mini`.
    provider: [{ attribute: 'gen_ai.request.model', only: ['langwatch'], before: '/' }],
    input_tokens: [
      {
        attribute: 'langwatch.metrics',
        paths: ['value.promptTokens', 'value.prompt_tokens', 'promptTokens', 'prompt_tokens'],
      },
    ],
    output_tokens: [
      {
        attribute: 'langwatch.metrics',
        paths: ['value.completionTokens', 'value.completion_tokens', 'completionTokens', 'completion_tokens'],
      },
    ],
    reasoning_tokens: [
      {
        attribute: 'langwatch.metrics',
        paths: ['value.reasoningTokens', 'value.reasoning_tokens', 'reasoningTokens', 'reasoning_tokens'],
      },
    ],
    cost_total: [{ attribute: 'langwatch.metrics', paths: ['value.cost', 'cost'] }, 'langwatch.span.cost'],
    conversation_id: [
      'langwatch.thread.id',
      'langwatch.thread_id',
      { attribute: 'metadata', only: ['langwatch'], paths: ['thread_id', 'threadId'] },
    ],
    user_id: [
      'langwatch.user.id',
      'langwatch.user_id',
      { attribute: 'metadata', only: ['langwatch'], paths: ['user_id', 'userId'] },
    ],
    tool_arguments: [{ attribute: 'langwatch.input', when: ['execute_tool'], paths: ['value'] }],
    tool_result: [{ attribute: 'langwatch.output', when: ['execute_tool'], paths: ['value'] }],
    input_content: [{ attribute: 'langwatch.input', paths: ['value'] }, 'langwatch.input'],
    output_content: [{ attribute: 'langwatch.output', paths: ['value'] }, 'langwatch.output'],
    retrieval_query: [{ attribute: 'langwatch.input', when: ['retrieval'], paths: ['value'] }],
    retrieval_documents: ['langwatch.rag.contexts', 'langwatch.rag_contexts'],
    time_to_first_token: [
      {
        ...{ attribute: 'langwatch.metrics', unit: 'ms' },
        paths: ['value.firstTokenMs', 'value.first_token_ms', 'firstTokenMs', 'first_token_ms'],
      },
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
  content: ['langwatch.params', 'langwatch.prompt.variables', 'langwatch.evaluation.custom'],
  sources: ['langwatch/langwatch: sdks'],
};
