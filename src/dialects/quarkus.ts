/** LangChain4j as the extension of Quarkus traces it. LangChain4j alone sends nothing. */
import type { Dialect } from './dialect.ts';

export const QUARKUS_LANGCHAIN4J: Dialect = {
  id: 'quarkus-langchain4j',
  // The tracer of Quarkus, so the scope of its HTTP spans too. They have no attribute and no name of this dialect.
  scopes: ['io.quarkus.opentelemetry'],
  fields: {
    cost_total: [{ attribute: 'gen_ai.client.estimated_cost', before: 'USD' }],
  },
  spanNames: { 'completion *': 'chat', 'langchain4j.aiservices.*': 'workflow', 'langchain4j.tools.*': 'execute_tool' },
  exceptionsAreFailures: true,
  cachedTokens: [{ cached: 'inside' }],
  sources: ['quarkiverse/quarkus-langchain4j: core/runtime; recorded from quarkus-langchain4j 1.7'],
};
