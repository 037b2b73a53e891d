/** The Vercel AI SDK: its own names up to version 6, OpenTelemetry names from version 7 on. */
import type { Operation } from './categories.ts';
import type { Dialect } from './dialect.ts';

/** The SDK names the operation in two attributes. */
const OPERATIONS: Readonly<Record<string, Operation>> = {
  'ai.generateText': 'workflow',
  'ai.streamText': 'workflow',
  'ai.generateObject': 'workflow',
  'ai.streamObject': 'workflow',
  'ai.generateText.doGenerate': 'chat',
  'ai.streamText.doStream': 'chat',
  'ai.generateObject.doGenerate': 'chat',
  'ai.streamObject.doStream': 'chat',
  'ai.embed': 'workflow',
  'ai.embedMany': 'workflow',
  'ai.embed.doEmbed': 'embeddings',
  'ai.embedMany.doEmbed': 'embeddings',
  'ai.rerank': 'workflow',
  'ai.rerank.doRerank': 'rerank',
  'ai.toolCall': 'execute_tool',
};

export const VERCEL_AI: Dialect = {
  id: 'vercel-ai',
  scopes: ['ai'],
  markers: ['ai.operationId', 'ai.model.id'],
  fields: {
    operation: ['ai.operationId', { attribute: 'operation.name', only: ['vercel-ai'], general: 'shared' }],
    provider: ['ai.model.provider'],
    request_model: ['ai.model.id'],
    response_model: ['ai.response.model'],
    response_id: ['ai.response.id'],
    input_tokens: [
      'ai.usage.inputTokens',
      'ai.usage.promptTokens',
      { attribute: 'ai.usage.tokens', when: ['embeddings', 'workflow'], last: true },
    ],
    output_tokens: ['ai.usage.outputTokens', 'ai.usage.completionTokens'],
    total_tokens: [
      'ai.usage.totalTokens',
      // With Google's models the output of version 5 leaves out the thoughts, which only this total shows.
      { attribute: 'ai.response.providerMetadata', paths: ['google.usageMetadata.totalTokenCount'] },
    ],
    cache_read_tokens: [
      { attribute: 'ai.usage.inputTokenDetails.cacheReadTokens', proves: 'inside' },
      'ai.usage.cachedInputTokens',
      {
        attribute: 'ai.response.providerMetadata',
        paths: [
          'anthropic.cacheReadInputTokens',
          'anthropic.usage.cache_read_input_tokens',
          'bedrock.usage.cacheReadInputTokens',
          'openai.cachedPromptTokens',
          'google.usageMetadata.cachedContentTokenCount',
          'deepseek.promptCacheHitTokens',
        ],
      },
    ],
    cache_write_tokens: [
      { attribute: 'ai.usage.inputTokenDetails.cacheWriteTokens', proves: 'inside' },
      {
        attribute: 'ai.response.providerMetadata',
        paths: [
          'anthropic.cacheCreationInputTokens',
          'anthropic.usage.cache_creation_input_tokens',
          'bedrock.usage.cacheWriteInputTokens',
        ],
      },
    ],
    cache_write_5m_tokens: [
      {
        attribute: 'ai.response.providerMetadata',
        paths: ['anthropic.usage.cache_creation.ephemeral_5m_input_tokens'],
      },
    ],
    cache_write_1h_tokens: [
      {
        attribute: 'ai.response.providerMetadata',
        paths: ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens'],
      },
    ],
    reasoning_tokens: [
      { attribute: 'ai.usage.outputTokenDetails.reasoningTokens', proves: 'inside' },
      'ai.usage.reasoningTokens',
      {
        attribute: 'ai.response.providerMetadata',
        paths: ['openai.reasoningTokens', 'google.usageMetadata.thoughtsTokenCount'],
      },
    ],
    conversation_id: [
      'ai.telemetry.metadata.sessionId',
      'ai.telemetry.metadata.threadId',
      'ai.telemetry.metadata.chatId',
      'ai.telemetry.metadata.conversationId',
      'ai.settings.context.sessionId',
    ],
    user_id: ['ai.telemetry.metadata.userId', 'ai.settings.context.userId'],
    agent_name: ['ai.telemetry.functionId'],
    tool_name: ['ai.toolCall.name'],
    tool_call_id: ['ai.toolCall.id'],
    tool_arguments: ['ai.toolCall.args'],
    tool_result: ['ai.toolCall.result'],
    input_content: ['ai.prompt.messages', 'ai.prompt', 'ai.value', 'ai.values'],
    output_content: [
      'ai.response.text',
      'ai.response.toolCalls',
      'ai.response.object',
      'ai.response.reasoning',
      'ai.response.files',
      'ai.result.text',
    ],
    system_instructions: [{ attribute: 'ai.prompt', paths: ['system', 'instructions'] }],
    retrieval_documents: [
      { attribute: 'ai.documents', when: ['retrieval', 'rerank', 'memory'] },
      { attribute: 'ai.ranking', when: ['retrieval', 'rerank', 'memory'] },
    ],
    finish_reason: ['ai.response.finishReason', 'ai.finishReason'],
    time_to_first_token: [
      { attribute: 'ai.response.msToFirstChunk', unit: 'ms' },
      { attribute: 'ai.stream.msToFirstChunk', unit: 'ms' },
    ],
  },
  operations: {
    'ai.operationId': OPERATIONS,
    'operation.name': OPERATIONS,
  },
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    'ai.prompt.system',
    'ai.prompt.tools',
    'ai.prompt.toolChoice',
    'ai.schema',
    'ai.schema.description',
    'ai.response.source',
    'ai.result.toolCalls',
    'ai.result.object',
    'ai.embedding',
    'ai.embeddings',
    'ai.response.providerMetadata',
    { secret: true, attributes: ['ai.request.headers.{k}'] },
  ],
  sources: ['vercel/ai: packages/ai (ai@3.4.9, ai@4.3.19, ai@5.0.244, ai@6.0.264)'],
};

export const VERCEL_AI_V7: Dialect = {
  id: 'vercel-ai-v7',
  scopes: ['gen_ai'],
  hints: ['gen_ai.operation.name=agent_step'],
  fields: {
    time_to_first_token: [{ attribute: 'gen_ai.client.operation.time_to_first_chunk', unit: 's' }],
  },
  cachedTokens: [{ cached: 'inside' }],
  sources: ['vercel/ai: packages/otel'],
};
