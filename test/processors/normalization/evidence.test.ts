/** The type of a span without an operation that is known: it follows from the attributes that are there. */
import t from 'tap';
import { Normalized, type PlainRecord, type Row } from './normalized.ts';

const normalized = new Normalized();

interface Shape {
  readonly what: string;
  readonly attributes: NonNullable<PlainRecord['attributes']>;
  readonly row: Row;
}

const MODEL_CALL = { category: 'model_call', operation: 'chat', is_error: false };

const SHAPES: readonly Shape[] = [
  { what: 'the requested model alone', attributes: { 'gen_ai.request.model': 'm' }, row: MODEL_CALL },
  { what: 'the answering model alone', attributes: { 'gen_ai.response.model': 'm' }, row: MODEL_CALL },
  { what: 'the older name of the model alone', attributes: { 'llm.model_name': 'm' }, row: MODEL_CALL },
  {
    what: 'a model and an error',
    attributes: { 'gen_ai.request.model': 'm', 'error.type': 'timeout' },
    row: { ...MODEL_CALL, is_error: true, error_type: 'timeout' },
  },
  {
    what: 'a tool with its arguments, beside a model',
    attributes: { 'gen_ai.request.model': 'm', 'gen_ai.tool.name': 'search', 'gen_ai.tool.call.arguments': '{"q":1}' },
    row: { category: null, tool_name: null },
  },
  {
    what: 'the name of a tool alone',
    attributes: { 'gen_ai.tool.name': 'search' },
    row: { category: 'tool_step', operation: 'execute_tool', tool_name: 'search' },
  },
  {
    what: 'the id of a tool call alone',
    attributes: { 'gen_ai.tool.call.id': 'call_1' },
    row: { category: 'tool_step', operation: 'execute_tool', tool_call_id: 'call_1' },
  },
  {
    what: 'the query of a retrieval alone',
    attributes: { 'gen_ai.retrieval.query.text': 'q' },
    row: { category: 'retrieval', operation: 'retrieval', retrieval_query: 'q' },
  },
  {
    what: 'the documents of a retrieval alone',
    attributes: { 'gen_ai.retrieval.documents': '[{"id":"1"}]' },
    row: { category: 'retrieval', retrieval_documents: '[{"id":"1"}]' },
  },
  {
    what: 'the size of a retrieval alone',
    attributes: { 'gen_ai.retrieval.top_k': 3n },
    row: { category: 'retrieval', operation: 'retrieval' },
  },
  {
    what: 'a retrieval beside the model of its embedding',
    attributes: { 'gen_ai.retrieval.query.text': 'q', 'gen_ai.request.model': 'm' },
    row: { category: 'retrieval' },
  },
  {
    what: 'the model of an embedding alone',
    attributes: { 'embedding.model_name': 'm' },
    row: { category: 'embedding', request_model: 'm' },
  },
  {
    what: 'the model of a reranker alone',
    attributes: { 'reranker.model_name': 'm' },
    row: { category: 'rerank', request_model: 'm' },
  },
  {
    what: 'a tool under an operation that is no name of the conventions',
    attributes: { 'gen_ai.operation.name': 'tool', 'gen_ai.tool.name': 'search', 'gen_ai.tool.call.id': 'c' },
    row: { category: 'tool_step', tool_name: 'search', tool_call_id: 'c' },
  },
  {
    what: 'a call under an operation that is no name of the conventions',
    attributes: {
      'gen_ai.operation.name': 'responses',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-5-mini',
      'gen_ai.usage.input_tokens': 9n,
      'gen_ai.usage.output_tokens': 4n,
    },
    row: { category: 'model_call', provider: 'openai', input_tokens: 9, output_tokens: 4, usage_scope: 'own' },
  },
  {
    what: 'a call under an unknown operation, which is kept',
    attributes: { 'gen_ai.operation.name': 'converse', 'gen_ai.request.model': 'm', 'gen_ai.usage.input_tokens': 9n },
    row: { category: 'model_call', operation: 'converse', input_tokens: 9 },
  },
  {
    what: 'a tool under an unknown operation, which is kept',
    attributes: { 'gen_ai.operation.name': 'run_skill', 'gen_ai.tool.name': 'search' },
    row: { category: 'tool_step', operation: 'run_skill', tool_name: 'search' },
  },
  {
    what: 'an unknown operation before one in the words of another sender',
    attributes: { 'gen_ai.operation.name': 'whatever', 'openinference.span.kind': 'RETRIEVER' },
    row: { category: 'retrieval' },
  },
  {
    what: 'an unknown operation and nothing else',
    attributes: { 'gen_ai.operation.name': 'summarize', 'gen_ai.agent.name': 'a' },
    row: { category: null, operation: 'summarize' },
  },
  {
    what: 'a known operation without a type, beside a model',
    attributes: { 'gen_ai.operation.name': 'create_message', 'gen_ai.request.model': 'm' },
    row: { category: null, operation: 'create_message' },
  },
];

for (const { what, attributes, row } of SHAPES) {
  t.test(`type of a span with ${what}`, async (t) => {
    t.match(normalized.span(attributes), row);
    t.match(normalized.viaProtobuf('traces', [{ attributes }])[0], row, 'and through protobuf');
  });
}

t.test('a model alone is not a call on log records, whose events have names', async (t) => {
  t.match(normalized.log('some.event', { 'gen_ai.request.model': 'm' }), { category: null });
});

t.test('a document that may hold a model is no evidence', async (t) => {
  t.match(normalized.span({ 'gcp.vertex.agent.llm_request': '{}' }), { dialect: 'google-adk', category: null });
});
