/** Langtrace. */
import type { Dialect } from './dialect.ts';

export const LANGTRACE: Dialect = {
  id: 'langtrace',
  scopes: ['langtrace_python_sdk*'],
  markers: ['langtrace.service.type', 'langtrace.sdk.name'],
  fields: {
    // The type of an embedding or an image is that of a model call.
    operation: ['gen_ai.operation.name', 'langtrace.service.type'],
    provider: ['langtrace.service.name'],
    cache_read_tokens: ['gen_ai.usage.cached_tokens'],
    input_content: ['llm.prompts'],
    output_content: ['llm.completions'],
  },
  operations: {
    'gen_ai.operation.name': { images_generate: 'image_generation', images_edit: 'image_generation' },
    'langtrace.service.type': { llm: 'chat', vectordb: 'retrieval', framework: 'workflow' },
  },
  cachedTokens: [{ providers: ['anthropic'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    'llm.responses',
    'gen_ai.request.embedding_inputs',
    'gen_ai.request.tools',
    'gen_ai.request.tool_results',
    'llm.retrieval.query',
    'llm.retrieval.results',
    'llm.tools',
    'llm.tool.results',
    'langchain.inputs',
    'langchain.outputs',
  ],
  sources: ['Scale3-Labs/langtrace-python-sdk'],
};
