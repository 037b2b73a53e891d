/** Spring AI: Micrometer observations, so every value is a string. */
import type { Dialect } from './dialect.ts';

export const SPRING_AI: Dialect = {
  id: 'spring-ai',
  // Spans of model calls have no attribute of its own; Spring Boot and Micrometer name the tracer.
  scopes: ['org.springframework.ai*', 'org.springframework.boot', 'io.micrometer*'],
  markers: ['spring.ai.*'],
  fields: {
    operation: ['spring.ai.kind'],
    conversation_id: ['spring.ai.chat.client.conversation.id'],
    tool_name: ['spring.ai.tool.definition.name'],
    tool_call_id: ['spring.ai.tool.call.id'],
    tool_arguments: ['spring.ai.tool.call.arguments'],
    tool_result: ['spring.ai.tool.call.result'],
    retrieval_query: ['db.vector.query.content'],
    retrieval_documents: ['db.vector.query.response.documents'],
  },
  operations: {
    'spring.ai.kind': {
      chat_client: 'workflow',
      advisor: 'workflow',
      tool_call: 'execute_tool',
    },
  },
  // The kind `vector_store` is also that of documents added or deleted.
  suggests: { 'db.vector.query.content': 'retrieval' },
  cachedTokens: [{ providers: ['anthropic', 'aws.bedrock'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    'spring.ai.tool.definition.description',
    'spring.ai.tool.definition.schema',
    'db.vector.query.filter',
    'spring.ai.chat.client.advisor.params',
    'spring.ai.chat.client.system.params',
    'spring.ai.chat.client.system.text',
    'spring.ai.chat.client.user.params',
    'spring.ai.chat.client.user.text',
  ],
  sources: ['spring-projects/spring-ai: spring-ai-model'],
};
