/** LlamaIndex's own OpenTelemetry integration: everything about a step is on the events of its span. */
import type { Dialect, Source } from './dialect.ts';

const ONLY = ['llama-index'];
const RAW = 'response.raw';

const onEvent = (...attributes: readonly string[]): readonly Source[] =>
  attributes.map((attribute) => ({ attribute, only: ONLY, on: 'span_event' }));

export const LLAMA_INDEX: Dialect = {
  id: 'llama-index',
  scopes: ['llamaindex.opentelemetry.tracer'],
  // A stream has an event for each part, which repeats the beginning of the answer.
  readsEvents: [
    ...['LLMChatStartEvent', 'LLMChatEndEvent', 'LLMCompletionStartEvent', 'LLMCompletionEndEvent'],
    ...['EmbeddingStartEvent', 'EmbeddingEndEvent', 'SparseEmbeddingStartEvent', 'SparseEmbeddingEndEvent'],
    ...['RetrievalStartEvent', 'RetrievalEndEvent', 'ReRankStartEvent', 'ReRankEndEvent'],
    ...['QueryStartEvent', 'SynthesizeStartEvent', 'GetResponseStartEvent', 'LLMPredictStartEvent'],
    ...['StreamChatStartEvent', 'AgentRunStepStartEvent', 'AgentChatWithStepStartEvent', 'workflow.output'],
  ],
  fields: {
    operation: onEvent('class_name'),
    // `openai_llm`, `Anthropic_LLM`, `OpenAIEmbedding`.
    provider: ['_llm', '_LLM', 'Embedding'].map((before) => ({
      ...{ attribute: 'model_dict.class_name', only: ONLY, on: 'span_event' },
      before,
    })),
    request_model: onEvent('model_dict.model_name', 'model_dict.model'),
    response_model: onEvent(`${RAW}.model`, `${RAW}.model_version`),
    response_id: onEvent(`${RAW}.id`, `${RAW}.response_id`),
    input_tokens: onEvent(
      ...[`${RAW}.usage.prompt_tokens`, `${RAW}.usage.input_tokens`, `${RAW}.usage_metadata.prompt_token_count`],
      'response.additional_kwargs.prompt_tokens',
    ),
    output_tokens: onEvent(
      ...[`${RAW}.usage.completion_tokens`, `${RAW}.usage.output_tokens`],
      ...[`${RAW}.usage_metadata.candidates_token_count`, 'response.additional_kwargs.completion_tokens'],
    ),
    total_tokens: onEvent(
      ...[`${RAW}.usage.total_tokens`, `${RAW}.usage_metadata.total_token_count`],
      'response.additional_kwargs.total_tokens',
    ),
    cache_read_tokens: onEvent(
      ...[`${RAW}.usage.prompt_tokens_details.cached_tokens`, `${RAW}.usage.input_tokens_details.cached_tokens`],
      ...[`${RAW}.usage.cache_read_input_tokens`, `${RAW}.usage_metadata.cached_content_token_count`],
    ),
    cache_write_tokens: onEvent(`${RAW}.usage.cache_creation_input_tokens`),
    reasoning_tokens: onEvent(
      `${RAW}.usage.completion_tokens_details.reasoning_tokens`,
      `${RAW}.usage.output_tokens_details.reasoning_tokens`,
      `${RAW}.usage_metadata.thoughts_token_count`,
    ),
    service_tier: onEvent(`${RAW}.service_tier`),
    finish_reason: [
      { attribute: `${RAW}.choices`, paths: ['[*].finish_reason'], only: ONLY, on: 'span_event' },
      ...onEvent(`${RAW}.stop_reason`, `${RAW}.finish_reason`),
    ],
    input_content: onEvent('messages', 'prompt', 'chunks'),
    output_content: onEvent('response.message.blocks', 'response.text'),
    retrieval_query: onEvent('str_or_query_bundle', 'str_or_query_bundle.query_str'),
    retrieval_documents: onEvent('nodes'),
  },
  operations: {
    class_name: {
      LLMChatStartEvent: 'chat',
      LLMChatEndEvent: 'chat',
      LLMCompletionStartEvent: 'text_completion',
      LLMCompletionEndEvent: 'text_completion',
      EmbeddingStartEvent: 'embeddings',
      SparseEmbeddingStartEvent: 'embeddings',
      RetrievalStartEvent: 'retrieval',
      ReRankStartEvent: 'rerank',
      AgentRunStepStartEvent: 'invoke_agent',
      AgentChatWithStepStartEvent: 'invoke_agent',
      QueryStartEvent: 'workflow',
      SynthesizeStartEvent: 'workflow',
      GetResponseStartEvent: 'workflow',
      LLMPredictStartEvent: 'workflow',
      StreamChatStartEvent: 'workflow',
      'workflow.output': 'workflow',
    },
  },
  spanNames: { '*Tool.call': 'execute_tool', '*Tool.acall': 'execute_tool' },
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    // Input and output of a step; the events of a span have them with a prefix. Events of any name have them too.
    ...['', 'tags.'].flatMap((prefix) =>
      ['step.input_summary', 'start_event'].map((name) => `${prefix}llamaindex.${name}`),
    ),
    { only: ONLY, events: ['*'] },
  ],
  sources: ['run-llama/llama_index: llama-index-integrations/observability/llama-index-observability-otel'],
};
