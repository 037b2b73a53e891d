/** MLflow tracing: every value is JSON in a string. */
import type { Dialect } from './dialect.ts';

const MLFLOW: Dialect = {
  id: 'mlflow',
  namedBySpan: ['execute_tool', 'invoke_agent'],
  scopes: ['mlflow*'],
  markers: ['mlflow.spanType', 'mlflow.traceRequestId'],
  fields: {
    operation: [{ attribute: 'mlflow.spanType', paths: ['$'] }],
    provider: [{ attribute: 'mlflow.llm.provider', paths: ['$'] }],
    request_model: [{ attribute: 'mlflow.llm.model', paths: ['$'], either: true }],
    response_model: [
      { attribute: 'mlflow.llm.model', paths: ['$'], either: true },
      { attribute: 'mlflow.spanOutputs', paths: ['model'], when: ['chat', 'text_completion'] },
    ],
    response_id: [{ attribute: 'mlflow.spanOutputs', paths: ['id'], when: ['chat', 'text_completion'] }],
    finish_reason: [
      {
        attribute: 'mlflow.spanOutputs',
        paths: ['choices[*].finish_reason', 'stop_reason'],
        when: ['chat', 'text_completion'],
      },
    ],
    input_tokens: [{ attribute: 'mlflow.chat.tokenUsage', paths: ['input_tokens'] }],
    output_tokens: [{ attribute: 'mlflow.chat.tokenUsage', paths: ['output_tokens'] }],
    total_tokens: [{ attribute: 'mlflow.chat.tokenUsage', paths: ['total_tokens'] }],
    cache_read_tokens: [{ attribute: 'mlflow.chat.tokenUsage', paths: ['cache_read_input_tokens'] }],
    cache_write_tokens: [{ attribute: 'mlflow.chat.tokenUsage', paths: ['cache_creation_input_tokens'] }],
    cost_total: [
      { attribute: 'mlflow.llm.cost', paths: ['total_cost'] },
      { attribute: 'mlflow.trace.cost', aggregate: true },
    ],
    cost_input: [{ attribute: 'mlflow.llm.cost', paths: ['input_cost'] }],
    cost_output: [{ attribute: 'mlflow.llm.cost', paths: ['output_cost'] }],
    conversation_id: [{ attribute: 'mlflow.trace.session', paths: ['$'] }],
    user_id: [{ attribute: 'mlflow.trace.user', paths: ['$'] }],
    tool_arguments: [{ attribute: 'mlflow.spanInputs', paths: ['$'], when: ['execute_tool'] }],
    tool_result: [{ attribute: 'mlflow.spanOutputs', paths: ['$'], when: ['execute_tool'] }],
    input_content: [{ attribute: 'mlflow.spanInputs', paths: ['$'] }],
    output_content: [{ attribute: 'mlflow.spanOutputs', paths: ['$'] }],
    retrieval_query: [{ attribute: 'mlflow.spanInputs', paths: ['$'], when: ['retrieval', 'rerank', 'memory'] }],
    retrieval_documents: [{ attribute: 'mlflow.spanOutputs', paths: ['$'], when: ['retrieval', 'rerank', 'memory'] }],
  },
  operations: {
    'mlflow.spanType': {
      LLM: 'text_completion',
      CHAT_MODEL: 'chat',
      AGENT: 'invoke_agent',
      TOOL: 'execute_tool',
      CHAIN: 'workflow',
      RETRIEVER: 'retrieval',
      EMBEDDING: 'embeddings',
      RERANKER: 'rerank',
      PARSER: 'workflow',
      MEMORY: 'memory',
      WORKFLOW: 'workflow',
      TASK: 'workflow',
      GUARDRAIL: 'guardrail',
      EVALUATOR: 'evaluation',
      UNKNOWN: 'unknown',
    },
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'mlflow.chat.messages',
    'mlflow.chat.tools',
    'mlflow.traceInputs',
    'mlflow.traceOutputs',
    'mlflow.trace.inputs',
    'mlflow.trace.outputs',
    {
      only: ['mlflow'],
      attributes: ['tools', 'messages', 'instructions', 'input', 'prompt', 'system', 'contents', 'system_instruction'],
    },
    { events: ['mlflow.chunk.item.{i}'] },
  ],
  sources: ['mlflow/mlflow: mlflow/tracing'],
};

export const MLFLOW_FAMILY: readonly Dialect[] = [MLFLOW];
