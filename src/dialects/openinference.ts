/** OpenInference (Arize): flattened message and document lists, kinds in upper case. */
import type { Operation } from './categories.ts';
import type { Dialect } from './dialect.ts';

/** The raw output is the answer of the provider on spans of model calls only. */
const CALLS: readonly Operation[] = ['chat', 'text_completion', 'generate_content'];

export const OPENINFERENCE: Dialect = {
  id: 'openinference',
  scopes: ['openinference.instrumentation.*', '@arizeai/openinference-instrumentation-*'],
  markers: ['openinference.span.kind', 'llm.token_count.*'],
  fields: {
    operation: ['openinference.span.kind'],
    provider: ['llm.provider', 'llm.system'],
    request_model: [
      'llm.request.model_name',
      { attribute: 'llm.model_name', either: true },
      'embedding.model_name',
      'reranker.model_name',
      { attribute: 'llm.invocation_parameters', paths: ['model', 'model_name', 'model_id'] },
    ],
    response_model: [
      'llm.response.model_name',
      { attribute: 'llm.model_name', either: true },
      {
        attribute: 'output.value',
        only: ['openinference'],
        when: CALLS,
        paths: [
          ...['model', 'model_version', 'modelVersion'],
          'generations[*][*].message.kwargs.response_metadata.model_name',
        ],
      },
    ],
    response_id: [
      {
        attribute: 'output.value',
        only: ['openinference'],
        when: CALLS,
        paths: ['id', 'response_id', 'responseId', 'generations[*][*].message.kwargs.response_metadata.id'],
      },
    ],
    input_tokens: ['llm.token_count.prompt'],
    output_tokens: ['llm.token_count.completion'],
    total_tokens: ['llm.token_count.total'],
    cache_read_tokens: ['llm.token_count.prompt_details.cache_read', 'llm.token_count.prompt_details.cache_input'],
    cache_write_tokens: ['llm.token_count.prompt_details.cache_write'],
    reasoning_tokens: ['llm.token_count.completion_details.reasoning'],
    audio_input_tokens: ['llm.token_count.prompt_details.audio'],
    audio_output_tokens: ['llm.token_count.completion_details.audio'],
    cost_total: ['llm.cost.total'],
    cost_input: ['llm.cost.prompt'],
    cost_output: ['llm.cost.completion'],
    agent_name: [
      { attribute: 'agent.name', general: 'shared' },
      { attribute: 'graph.node.name', last: true },
    ],
    tool_name: [{ attribute: 'tool.name', general: 'shared' }],
    tool_call_id: [{ attribute: 'tool.id', general: 'shared' }, 'tool_call.id'],
    // `tool.parameters` is the schema of the tool, not its arguments.
    tool_arguments: [
      'tool.arguments',
      { attribute: 'tool.parameters', excluded: true },
      { attribute: 'input.value', only: ['openinference'], when: ['execute_tool'] },
    ],
    tool_result: [{ attribute: 'output.value', only: ['openinference'], when: ['execute_tool'] }],
    input_content: [
      'llm.input_messages.{i}.message.*',
      'llm.prompts.{i}.prompt.text',
      'input.value',
      'embedding.embeddings.{i}.embedding.text',
    ],
    output_content: ['llm.output_messages.{i}.message.*', 'llm.choices.{i}.completion.text', 'output.value'],
    retrieval_query: [
      { attribute: 'input.value', only: ['openinference'], when: ['retrieval', 'rerank', 'memory'] },
      'reranker.query',
    ],
    retrieval_documents: ['retrieval.documents.{i}.document.*', 'reranker.output_documents.{i}.document.*'],
    finish_reason: [
      'llm.finish_reason',
      {
        attribute: 'output.value',
        only: ['openinference'],
        when: CALLS,
        paths: [
          'choices[*].finish_reason',
          'stop_reason',
          'candidates[*].finish_reason',
          'candidates[*].finishReason',
          'stopReason',
          'generations[*][*].generation_info.finish_reason',
          'generations[*][*].message.kwargs.response_metadata.stop_reason',
        ],
      },
    ],
  },
  operations: {
    'openinference.span.kind': {
      LLM: 'chat',
      EMBEDDING: 'embeddings',
      CHAIN: 'workflow',
      RETRIEVER: 'retrieval',
      RERANKER: 'rerank',
      TOOL: 'execute_tool',
      AGENT: 'invoke_agent',
      GUARDRAIL: 'guardrail',
      EVALUATOR: 'evaluation',
      PROMPT: 'prompt',
      UNKNOWN: 'unknown',
    },
  },
  suggests: { 'embedding.model_name': 'embeddings', 'reranker.model_name': 'rerank' },
  cachedTokens: [
    {
      scopes: [
        '@arizeai/openinference-instrumentation-anthropic',
        '@arizeai/openinference-instrumentation-bedrock',
        '@arizeai/openinference-instrumentation-claude-agent-sdk',
        'openinference.instrumentation.claude_agent_sdk*',
      ],
      cached: 'outside',
    },
    { cached: 'inside' },
  ],
  ownUsageScopes: [
    'openinference.instrumentation.claude_agent_sdk*',
    '@arizeai/openinference-instrumentation-claude-agent-sdk',
  ],
  content: [
    // The tool results of AutoGen are not under `message`.
    'llm.input_messages.{i}.*',
    'llm.output_messages.{i}.*',
    'annotations.{i}.annotation.explanation',
    'evaluations.{i}.evaluation.explanation',
    'trace.evaluations.{i}.evaluation.explanation',
    'session.evaluations.{i}.evaluation.explanation',
    'llm.prompt_template.template',
    'llm.prompt_template.variables',
    'llm.invocation_parameters',
    'embedding.invocation_parameters',
    'embedding.embeddings.{i}.embedding.vector',
    'embedding.text',
    'embedding.vector',
    'audio.transcript',
    'audio.url',
    'image.url',
    'llm.tools.{i}.tool.json_schema',
    'llm.function_call',
    'tool.json_schema',
    'tool.parameters',
    'reranker.input_documents.{i}.document.*',
    'tool.description',
    'message.tool_calls.{i}.*',
    { only: ['openinference'], attributes: ['metadata'] },
  ],
  sources: ['Arize-ai/openinference: spec/semantic_conventions.md'],
};
