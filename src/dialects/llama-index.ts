/** LlamaIndex's own OpenTelemetry integration: all content is on span events, one for each step of a call. */
import type { Dialect } from './dialect.ts';

export const LLAMA_INDEX: Dialect = {
  id: 'llama-index',
  scopes: ['llamaindex.opentelemetry.tracer'],
  content: [
    {
      only: ['llama-index'],
      events: [
        ...['LLMChatStartEvent', 'LLMChatInProgressEvent', 'LLMChatEndEvent'],
        ...['LLMCompletionStartEvent', 'LLMCompletionInProgressEvent', 'LLMCompletionEndEvent'],
        ...['LLMPredictStartEvent', 'LLMPredictEndEvent'],
        ...['LLMStructuredPredictStartEvent', 'LLMStructuredPredictInProgressEvent', 'LLMStructuredPredictEndEvent'],
        ...['EmbeddingStartEvent', 'EmbeddingEndEvent', 'SparseEmbeddingStartEvent', 'SparseEmbeddingEndEvent'],
        ...['QueryStartEvent', 'QueryEndEvent', 'RetrievalStartEvent', 'RetrievalEndEvent'],
        ...['ReRankStartEvent', 'ReRankEndEvent', 'SynthesizeStartEvent', 'SynthesizeEndEvent'],
        ...['GetResponseStartEvent', 'GetResponseEndEvent'],
        ...['GetMessageResponseStartEvent', 'GetMessageResponseEndEvent'],
        ...['AgentRunStepStartEvent', 'AgentRunStepEndEvent', 'AgentToolCallEvent'],
        ...['AgentChatWithStepStartEvent', 'AgentChatWithStepEndEvent'],
        ...['StreamChatStartEvent', 'StreamChatDeltaReceivedEvent', 'StreamChatEndEvent'],
      ],
    },
  ],
  sources: ['run-llama/llama_index: llama-index-integrations/observability/llama-index-observability-otel'],
};
