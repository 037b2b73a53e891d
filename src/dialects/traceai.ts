/** traceAI (Future AGI). */
import { SPAN_KINDS } from './categories.ts';
import type { Dialect } from './dialect.ts';

export const TRACEAI: Dialect = {
  id: 'traceai',
  scopes: ['traceai_*', 'fi_instrumentation*'],
  markers: ['fi.span.kind'],
  hints: ['gen_ai.cost.total'],
  fields: {
    operation: ['fi.span.kind'],
    // The attribute of the request model has the model that answered, and is absent where none answered.
    request_model: [
      { attribute: 'gen_ai.request.model', only: ['traceai'], either: true },
      { attribute: 'gen_ai.request.parameters', only: ['traceai'], paths: ['model'] },
      'gen_ai.reranker.model',
    ],
    response_model: [{ attribute: 'gen_ai.request.model', only: ['traceai'], either: true }],
    // The answer of Anthropic has the cached tokens, which no attribute has.
    response_id: [{ attribute: 'output.value', only: ['traceai'], when: ['chat'], paths: ['id'] }],
    finish_reason: [{ attribute: 'output.value', only: ['traceai'], when: ['chat'], paths: ['stop_reason'] }],
    cache_read_tokens: [
      ...['gen_ai.usage.input_tokens.cache_read', 'gen_ai.usage.cache_read_tokens'],
      { attribute: 'output.value', only: ['traceai'], when: ['chat'], paths: ['usage.cache_read_input_tokens'] },
    ],
    cache_write_tokens: [
      { attribute: 'output.value', only: ['traceai'], when: ['chat'], paths: ['usage.cache_creation_input_tokens'] },
    ],
    audio_input_tokens: ['gen_ai.usage.input_tokens.audio'],
    audio_output_tokens: ['gen_ai.usage.output_tokens.audio'],
    cost_total: ['gen_ai.cost.total', { attribute: 'gen_ai.voice.cost.total', excluded: true }],
    cost_input: ['gen_ai.cost.input'],
    cost_output: ['gen_ai.cost.output'],
    agent_name: ['gen_ai.a2a.agent.card.name'],
    tool_arguments: ['gen_ai.tool.parameters'],
    input_content: ['gen_ai.input.messages.{i}.message.*', 'gen_ai.prompts'],
    output_content: ['gen_ai.output.messages.{i}.message.*'],
    retrieval_query: ['gen_ai.reranker.query'],
    retrieval_documents: [
      'gen_ai.retrieval.documents.{i}.document.*',
      'gen_ai.reranker.output_documents.{i}.document.*',
      'gen_ai.reranker.output_documents',
    ],
  },
  operations: { 'fi.span.kind': SPAN_KINDS },
  cachedTokens: [{ providers: ['anthropic'], cached: 'outside' }, { cached: 'inside' }],
  content: [
    'gen_ai.input.images',
    'gen_ai.prompt.template.variables',
    'gen_ai.guardrail.modified_output',
    'gen_ai.reranker.input_documents',
    'gen_ai.embeddings.vectors',
    'gen_ai.voice.transcript',
    'gen_ai.voice.recording.*',
    'gen_ai.voice.from_number',
    'gen_ai.voice.to_number',
    'gen_ai.image.prompt',
    'gen_ai.image.negative_prompt',
    'gen_ai.image.revised_prompt',
    'gen_ai.image.output_urls',
    'gen_ai.computer_use.text',
    'gen_ai.computer_use.screenshot',
    'gen_ai.computer_use.result',
    'gen_ai.audio.transcript',
    'gen_ai.audio.url',
    'gen_ai.request.parameters',
  ],
  sources: ['future-agi/traceAI: python/fi_instrumentation; recorded from traceai-openai 0.1'],
};
