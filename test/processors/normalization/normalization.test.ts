/** How a record is read: its dialect, its fields, references to attributes, and values that must not be stored. */
import fc from 'fast-check';
import t from 'tap';
import type { Batch } from '../../../src/pdata/batch.ts';
import { DERIVED_COLUMNS } from '../../../src/pdata/columns.ts';
import { DISPOSITION_DROP } from '../../../src/pdata/layout.ts';
import { Normalized, type PlainRecord, type PlainValue, type Row, START } from './normalized.ts';

const normalized = new Normalized();
const derivedOf = (row: Row | undefined): Row =>
  Object.fromEntries(DERIVED_COLUMNS.map(({ name }) => [name, row?.[name]]).filter(([, value]) => value !== null));

t.test('the plain OpenTelemetry names fill their columns', async (t) => {
  const row = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-4o',
    'gen_ai.response.model': 'gpt-4o-2024-08-06',
    'gen_ai.response.id': 'chatcmpl-1',
    'gen_ai.response.finish_reasons': ['stop'],
    'gen_ai.usage.input_tokens': 100n,
    'gen_ai.usage.output_tokens': 20n,
    'gen_ai.usage.cache_read.input_tokens': 60n,
    'gen_ai.usage.reasoning.output_tokens': 5n,
    'gen_ai.response.time_to_first_chunk': 0.25,
    'gen_ai.conversation.id': 'c1',
    'gen_ai.agent.name': 'helper',
    'user.id': 'u1',
    'gen_ai.input.messages': '[{"role":"user"}]',
    'gen_ai.output.messages': '[{"role":"assistant"}]',
    'gen_ai.system_instructions': 'be brief',
  });
  t.strictSame(derivedOf(row), {
    category: 'model_call',
    operation: 'chat',
    provider: 'openai',
    request_model: 'gpt-4o',
    response_model: 'gpt-4o-2024-08-06',
    response_id: 'chatcmpl-1',
    input_tokens: 100,
    output_tokens: 20,
    total_tokens: 120,
    cache_read_tokens: 60,
    reasoning_tokens: 5,
    usage_scope: 'own',
    latency_ms: 250,
    time_to_first_token_ms: 250,
    finish_reasons: ['stop'],
    is_error: false,
    input_content: '[{"role":"user"}]',
    output_content: '[{"role":"assistant"}]',
    system_instructions: 'be brief',
    agent_name: 'helper',
    conversation_id: 'c1',
    user_id: 'u1',
    dialect: 'otel',
  });
});

t.test('a time that no step can take is not stored', async (t) => {
  const first = (seconds: PlainValue): unknown =>
    normalized.span({ 'gen_ai.operation.name': 'chat', 'gen_ai.response.time_to_first_chunk': seconds })?.[
      'time_to_first_token_ms'
    ];
  t.equal(first(86_400), 86_400_000);
  for (const seconds of [-1, Number.NaN, Infinity, 1e10, 1e300, Number.MAX_VALUE, '1e300'])
    t.equal(first(seconds), null);
});

t.test('content is in its column only; names and ids stay among the attributes', async (t) => {
  const { attributes } = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'm',
    'gen_ai.input.messages': '[1]',
  });
  t.strictSame(attributes, { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' });
});

t.test('a plain span has no derived columns, with any general attributes', async (t) => {
  const row = normalized.span({
    'http.request.method': 'GET',
    'server.address': 'api.openai.com',
    'error.type': '500',
    'db.query.text': 'select',
  });
  t.strictSame(derivedOf(row), {});
});

t.test('conversation and user are read from any span, and is_error stays null there', async (t) => {
  t.strictSame(derivedOf(normalized.span({ 'session.id': 's', 'user.id': 'u' }, { status: 2 })), {
    conversation_id: 's',
    user_id: 'u',
  });
});

t.test('R1: markers come before the scope name, and the scope name before hints', async (t) => {
  t.equal(
    normalized.span({ 'traceloop.span.kind': 'workflow' }, { scope: 'openinference.instrumentation.x' })['dialect'],
    'openllmetry',
  );
  t.equal(normalized.span({ 'llm.request.type': 'chat' }, { scope: 'litellm' })['dialect'], 'litellm');
  t.equal(
    normalized.span({ 'llm.request.type': 'chat' }, { scope: 'opentelemetry.instrumentation.openai' })['dialect'],
    'openllmetry',
  );
  t.equal(
    normalized.span({ 'gen_ai.operation.name': 'chat' }, { resource: { 'telemetry.sdk.name': 'openlit' } })['dialect'],
    'openlit',
  );
});

t.test('names of the record’s dialect are read before those of others', async (t) => {
  const names = { 'gen_ai.request.model': 'theirs', 'ai.model.id': 'own' };
  t.equal(normalized.span({ ...names, 'ai.operationId': 'ai.generateText.doGenerate' })['request_model'], 'own');
  t.equal(normalized.span({ 'gen_ai.request.model': 'theirs' }, { scope: 'ai' })['request_model'], 'theirs');
});

t.test('general names are read in their dialect only', async (t) => {
  const record: PlainRecord = { attributes: { model: 'claude', input_tokens: 5n, output_tokens: 6n } };
  t.strictSame(derivedOf(normalized.plain('logs', [{ ...record, name: 'thing' }])[0]), {});
  const [ours] = normalized.plain('logs', [
    { ...record, name: 'claude_code.api_request', scope: 'com.anthropic.claude_code.events' },
  ]);
  t.equal(ours?.['input_tokens'], 5);
  t.equal(ours?.['request_model'], 'claude');
});

t.test('R5: usage of agents and workflows is a roll-up, unless no other step has usage', async (t) => {
  const usage = { 'gen_ai.usage.input_tokens': 1n };
  for (const operation of ['invoke_agent', 'invoke_workflow', 'plan', 'create_agent']) {
    t.equal(normalized.span({ ...usage, 'gen_ai.operation.name': operation })['usage_scope'], 'rollup', operation);
  }
  for (const operation of ['chat', 'embeddings', 'execute_tool', 'generate_content']) {
    t.equal(normalized.span({ ...usage, 'gen_ai.operation.name': operation })['usage_scope'], 'own', operation);
  }
  t.equal(normalized.span({ 'gen_ai.operation.name': 'chat' })['usage_scope'], null, 'no usage, no scope');
  const agent = { 'openinference.span.kind': 'AGENT', 'llm.token_count.prompt': 5n };
  t.equal(normalized.span(agent, { scope: 'openinference.instrumentation.smolagents' })['usage_scope'], 'rollup');
  t.equal(normalized.span(agent, { scope: 'openinference.instrumentation.claude_agent_sdk' })['usage_scope'], 'own');
  t.equal(
    normalized.span({ 'ai.operationId': 'ai.generateText', 'ai.usage.inputTokens': 5n })['usage_scope'],
    'rollup',
  );
  t.equal(
    normalized.span({ 'gen_ai.aggregated_usage.input_tokens': 5n }, { scope: 'pydantic-ai' })['usage_scope'],
    'rollup',
  );
  t.equal(normalized.span({ 'tanstack.ai.x': 1n, 'gen_ai.request.model': 'm', ...usage })['usage_scope'], 'rollup');
  for (const frame of [{ 'gen_ai.operation.name': 'run_team' }, {}])
    t.equal(normalized.span({ ...usage, ...frame })['usage_scope'], 'rollup', 'no known operation and no model');
});

t.test('R8: a framework is no provider; then the host or the model name decides', async (t) => {
  const provider = (attributes: Readonly<Record<string, PlainValue>>): unknown =>
    normalized.span(attributes)['provider'];
  t.equal(
    provider({ 'gen_ai.system': 'strands-agents', 'gen_ai.request.model': 'us.anthropic.claude-x' }),
    'aws.bedrock',
  );
  t.equal(provider({ 'gen_ai.system': 'langchain', 'gen_ai.request.model': 'gpt-4o' }), 'openai');
  t.equal(provider({ 'gen_ai.system': 'crewai', 'gen_ai.request.model': 'my-own' }), null);
  t.equal(provider({ 'gen_ai.system': 'crewai', 'server.address': 'x.openai.azure.com' }), 'azure.ai.openai');
  t.equal(provider({ 'gen_ai.request.model': 'gpt-4o' }), null, 'nothing was said, nothing is made up');
  const named = { 'gen_ai.provider.name': 'acme-agents', 'gen_ai.request.model': 'gpt-4o' };
  t.equal(normalized.span(named, { scope: 'acme-agents' })['provider'], 'openai', 'the scope is no provider');
  t.equal(normalized.span(named, { scope: 'acme-tracer' })['provider'], 'acme-agents');
});

const PROVIDERS: Readonly<Record<string, string>> = {
  OpenAI: 'openai',
  'openai.chat': 'openai',
  Anthropic: 'anthropic',
  'anthropic.messages': 'anthropic',
  'az.ai.openai': 'azure.ai.openai',
  'azure-openai.responses': 'azure.ai.openai',
  'amazon-bedrock': 'aws.bedrock',
  AWS: 'aws.bedrock',
  'google.generative-ai': 'gcp.gemini',
  'google.vertex.chat': 'gcp.vertex_ai',
  vertexai: 'gcp.vertex_ai',
  mistralai: 'mistral_ai',
  xai: 'x_ai',
  '@ai-sdk/openai': 'openai',
  'gcp.gen_ai': 'gcp.gen_ai',
  'my-company': 'my-company',
};
for (const [spelling, name] of Object.entries(PROVIDERS)) {
  t.test(`the provider ${spelling} is ${name}`, async (t) => {
    t.equal(normalized.span({ 'gen_ai.provider.name': spelling })['provider'], name);
    t.equal(
      normalized.viaProtobuf('traces', [{ attributes: { 'gen_ai.provider.name': spelling } }])[0]?.['provider'],
      name,
    );
  });
}

t.test('R9: a span with two dialects is one record', async (t) => {
  const row = normalized.span({
    'openinference.span.kind': 'LLM',
    'llm.token_count.prompt': 10n,
    'ai.operationId': 'ai.generateText.doGenerate',
    'ai.usage.inputTokens': 10n,
    'gen_ai.usage.input_tokens': 10n,
    'gen_ai.usage.output_tokens': 3n,
  });
  t.match(row, { dialect: 'openinference', operation: 'chat', input_tokens: 10, output_tokens: 3, total_tokens: 13 });
});

/** Drops every attribute, as privacy drops content. */
function dropAll(batch: Batch): void {
  const attributes = batch.cursor().at(0, batch.attributeCount);
  while (attributes.next()) attributes.disposition = DISPOSITION_DROP;
}

t.test(
  'R10: usage, model and reasons are read out of a document that may not be stored, its content is not',
  async (t) => {
    const output = JSON.stringify({
      usage: { inputTokens: 10, outputTokens: 4 },
      finishReason: 'stop',
      message: 'SECRET',
      custom: { model: 'm-1' },
    });
    const record: PlainRecord = {
      attributes: { 'genkit:metadata:subtype': 'model', 'genkit:name': 'googleai/g-1', 'genkit:output': output },
    };
    const [row] = normalized.plain('traces', [record], dropAll);
    t.match(row, {
      input_tokens: 10,
      output_tokens: 4,
      finish_reasons: ['stop'],
      response_model: 'm-1',
      output_content: null,
    });
    t.notMatch(JSON.stringify(row), 'SECRET');
  },
);

t.test('dropped content reaches no column, from any source', async (t) => {
  const secret = 'SECRET';
  const records: PlainRecord[] = [
    {
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': secret,
        'gen_ai.output.messages': secret,
        'gen_ai.system_instructions': secret,
      },
    },
    {
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.call.arguments': secret,
        'gen_ai.tool.call.result': secret,
      },
    },
    {
      attributes: {
        'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content': secret,
        'gen_ai.completion.0.content': secret,
      },
    },
    {
      attributes: {
        'ai.operationId': 'ai.generateText',
        'ai.prompt': JSON.stringify({ system: secret, prompt: secret }),
      },
    },
    { attributes: { request_data: JSON.stringify({ messages: [secret], system: secret }) }, scope: 'logfire.openai' },
    {
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [
        { name: 'gen_ai.user.message', attributes: { content: secret } },
        { name: 'gen_ai.user.message', attributes: { content: secret } },
      ],
    },
    {
      attributes: {
        'openinference.span.kind': 'RETRIEVER',
        'input.value': secret,
        'retrieval.documents.0.document.content': secret,
      },
    },
  ];
  for (const record of records) {
    const [kept] = normalized.plain('traces', [record]);
    t.match(JSON.stringify(derivedOf(kept)), secret, 'it is read when it may be stored');
    const [dropped] = normalized.plain('traces', [record], dropAll);
    t.notMatch(JSON.stringify(derivedOf(dropped)), secret);
  }
});

t.test('a dropped name is skipped, and the next candidate is used', async (t) => {
  const attributes = {
    'langsmith.span.kind': 'llm',
    'langsmith.metadata.ls_model_name': 'dropped',
    'gen_ai.request.model': 'kept',
  };
  const [row] = normalized.plain('traces', [{ attributes }], (batch) => {
    const rows = batch.cursor().at(0, batch.attributeCount);
    while (rows.next())
      if (batch.tables.keyOf(rows.symbol).startsWith('langsmith.metadata')) rows.disposition = DISPOSITION_DROP;
  });
  t.equal(row?.['request_model'], 'kept');
});

t.test('flattened messages are in the order of their numbers, ten after nine', async (t) => {
  const attributes = Object.fromEntries(
    [10, 2, 1, 0, 9].map((index) => [`gen_ai.prompt.${index}.content`, `m${index}`]),
  );
  const { input_content } = normalized.span({ ...attributes, 'traceloop.span.kind': 'task' });
  t.strictSame(Object.values(JSON.parse(String(input_content))), ['m0', 'm1', 'm2', 'm9', 'm10']);
});

t.test('an attribute that fits two columns fills the one of its operation', async (t) => {
  const both = { 'input.value': 'given', 'output.value': 'got' };
  const tool = normalized.span({ ...both, 'openinference.span.kind': 'TOOL' });
  t.match(tool, { tool_arguments: 'given', tool_result: 'got', input_content: null, output_content: null });
  const retrieval = normalized.span({ ...both, 'openinference.span.kind': 'RETRIEVER' });
  t.match(retrieval, { retrieval_query: 'given', input_content: null, tool_arguments: null });
  const call = normalized.span({ ...both, 'openinference.span.kind': 'LLM' });
  t.match(call, { input_content: 'given', output_content: 'got', tool_arguments: null });
});

t.test('placeholders for withheld content fill no column', async (t) => {
  for (const placeholder of ['__REDACTED__', '<REDACTED>', '[REDACTED]', '{}', '[Filtered]']) {
    t.equal(
      normalized.span({ 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': placeholder })['input_content'],
      null,
      placeholder,
    );
  }
});

t.test('the word `none` is no name, but may be a text', async (t) => {
  const row = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.response.model': 'none',
    'gen_ai.agent.name': 'none',
    'gen_ai.output.messages': 'none',
  });
  t.match(row, { response_model: null, agent_name: null, output_content: 'none' });
});

const REASONS: readonly (readonly [what: string, value: PlainValue, reasons: readonly string[] | null])[] = [
  ['a list', ['stop', 'length'], ['stop', 'length']],
  ['JSON in a string', '["STOP"]', ['STOP']],
  ['words joined by commas', 'stop, tool_calls', ['stop', 'tool_calls']],
  ['one word', 'tool-calls', ['tool-calls']],
  ['a Python tuple', "('stop',)", ['stop']],
  ['a Python list', "['end_turn', 'max_tokens']", ['end_turn', 'max_tokens']],
  ['a member of a Python enum', 'FinishReason.STOP', ['STOP']],
  ['an empty list', [], null],
  ['nothing', '', null],
  ['the word for nothing', 'None', null],
  ['a number', 4n, null],
  ['broken JSON', '["stop"', null],
];
for (const [what, value, reasons] of REASONS) {
  t.test(`finish reasons as ${what}`, async (t) => {
    const row = normalized.span({ 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': value });
    t.strictSame(row['finish_reasons'], reasons);
  });
}

const FIRST_TOKEN: readonly (readonly [
  attributes: Readonly<Record<string, PlainValue>>,
  scope: string,
  milliseconds: number | null,
])[] = [
  [{ 'gen_ai.response.time_to_first_chunk': 0.25 }, 'x', 250],
  [{ 'ai.operationId': 'ai.streamText.doStream', 'ai.response.msToFirstChunk': 120.5 }, 'ai', 120.5],
  [{ 'gen_ai.server.time_to_first_token': 0.25 }, 'openlit.openai', 250],
  [{ 'gen_ai.server.time_to_first_token': 250n }, 'strands.telemetry.tracer', 250],
  [{ 'gen_ai.span.kind': 'LLM', 'gen_ai.response.time_to_first_token': 250_000_000n }, 'x', 250],
  [{ 'sentry.op': 'gen_ai.chat', 'gen_ai.response.time_to_first_token': 0.25 }, 'x', 250],
  [{ 'dify.app_id': 'a', 'gen_ai.user.time_to_first_token': 250_000_000n }, 'x', 250],
  [
    {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.completion_start_time': `"${new Date(1_790_000_000_250).toISOString()}"`,
    },
    'x',
    250,
  ],
  // Without its zone, the instant may be hours away.
  [
    {
      'langfuse.observation.type': 'generation',
      'langfuse.observation.completion_start_time': new Date(1_790_000_000_250).toISOString().slice(0, -1),
    },
    'x',
    null,
  ],
  [{ 'copilot_chat.time_to_first_token': 250n }, 'x', 250],
  [{ 'gen_ai.response.time_to_first_chunk': -1 }, 'x', null],
  [{ 'gen_ai.response.time_to_first_chunk': Number.NaN }, 'x', null],
  [{ 'gen_ai.response.time_to_first_chunk': '0.1' }, 'x', 100],
];
for (const [attributes, scope, milliseconds] of FIRST_TOKEN) {
  t.test(
    `the time to the first token of ${JSON.stringify(Object.keys(attributes))} is ${milliseconds} ms`,
    async (t) => {
      t.equal(normalized.span(attributes, { scope })['time_to_first_token_ms'], milliseconds);
    },
  );
}

t.test('an event gives the time to the first token if no attribute does', async (t) => {
  const events = [{ name: 'ai.stream.firstChunk', time: START + 90_000_000n, attributes: {} }];
  t.equal(normalized.span({ 'ai.operationId': 'ai.streamText.doStream' }, { events })['time_to_first_token_ms'], 90);
});

t.test('the latency of a step is its duration, never negative, and unknown without an end', async (t) => {
  const latency = (end: bigint): unknown => normalized.span({ 'gen_ai.operation.name': 'chat' }, { end })['latency_ms'];
  t.equal(latency(START + 1_500_000n), 1.5);
  t.equal(latency(START - 5n), 0);
  t.equal(latency(START + 4_294_967_296n), 4294.967296, 'across the halves of a 64-bit number');
  t.equal(normalized.span({ 'gen_ai.operation.name': 'unheard-of' })['latency_ms'], null);
});

t.test('an unknown operation keeps the sender’s word and has no category', async (t) => {
  t.match(normalized.span({ 'gen_ai.operation.name': 'summarize' }), { operation: 'summarize', category: null });
  t.match(normalized.span({ 'gen_ai.operation.name': 'CHAT' }), { operation: 'chat', category: 'model_call' });
});

t.test('a model with usage and without an operation is a model call', async (t) => {
  t.match(normalized.span({ 'gen_ai.request.model': 'm', 'gen_ai.usage.output_tokens': 5n }), {
    category: 'model_call',
  });
});

t.test('a tool with its arguments and without an operation is a tool step', async (t) => {
  t.match(normalized.span({ 'gen_ai.tool.name': 'search', 'gen_ai.tool.call.id': 'c' }), {
    category: 'tool_step',
    tool_name: 'search',
    tool_call_id: 'c',
  });
  t.match(
    normalized.span({ 'gen_ai.tool.name': 'a, b', 'gen_ai.tool.call.id': '1, 2', 'gen_ai.request.model': 'm' }),
    { category: null, tool_name: null, tool_call_id: null },
    'the tools a model asked for are no step of their own',
  );
});

t.test('errors: by status, by type, by the attributes of a tool', async (t) => {
  const chat = { 'gen_ai.operation.name': 'chat' };
  t.match(normalized.span(chat), { is_error: false, error_type: null });
  t.match(normalized.span(chat, { status: 2 }), { is_error: true, error_type: null });
  t.match(normalized.span({ ...chat, 'error.type': 'timeout' }), { is_error: true, error_type: 'timeout' });
  const events = [{ name: 'exception', attributes: { 'exception.type': 'RateLimit' } }];
  t.match(normalized.span(chat, { status: 2, events }), { is_error: true, error_type: 'RateLimit' });
  t.match(
    normalized.span(chat, { events }),
    { is_error: false, error_type: 'RateLimit' },
    'an exception may have been caught',
  );
  t.match(normalized.span({ 'lk.function_tool.is_error': true }), { is_error: true });
  t.match(normalized.span({ 'genkit:state': 'error', 'genkit:type': 'flow' }), { is_error: true });
});

t.test('one attribute for both models is the response model when it is dated', async (t) => {
  const kind = { 'openinference.span.kind': 'LLM' };
  t.match(normalized.span({ ...kind, 'llm.model_name': 'gpt-4o-2024-08-06' }), {
    request_model: null,
    response_model: 'gpt-4o-2024-08-06',
  });
  t.match(normalized.span({ ...kind, 'llm.model_name': 'gpt-4o' }), { request_model: 'gpt-4o', response_model: null });
  t.match(normalized.span({ ...kind, 'llm.model_name': 'gpt-4o-2024-08-06' }, { status: 2 }), {
    request_model: 'gpt-4o-2024-08-06',
  });
  const bedrock = 'anthropic.claude-sonnet-4-5-20250929-v1:0';
  t.match(normalized.span({ ...kind, 'llm.model_name': bedrock }), { request_model: bedrock, response_model: null });
});

t.test('long names are cut to whole characters, and content is not', async (t) => {
  const long = 'é'.repeat(2000);
  const row = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.conversation.id': long,
    'gen_ai.input.messages': long,
  });
  t.equal(row['conversation_id'], 'é'.repeat(512));
  t.equal(row['input_content'], long);
});

t.test('a document too large to be parsed leaves its fields unavailable and is kept', async (t) => {
  const huge = JSON.stringify({ usage: { inputTokens: 5 }, text: 'x'.repeat(300_000) });
  const row = normalized.span({ 'genkit:metadata:subtype': 'model', 'genkit:output': huge });
  t.equal(row['input_tokens'], null);
  t.equal(row['output_content'], huge);
});

t.test('hostile and broken documents do no harm', async (t) => {
  for (const document of [
    '{',
    '['.repeat(5000),
    '{"usage":null}',
    '{"usage":[]}',
    '"x"',
    '{"__proto__":{"usage":{"inputTokens":5}}}',
  ]) {
    t.equal(
      normalized.span({ 'genkit:metadata:subtype': 'model', 'genkit:output': document })['input_tokens'],
      null,
      document.slice(0, 20),
    );
  }
});

const SOME_ATTRIBUTES: readonly (readonly [string, PlainValue])[] = [
  ['gen_ai.operation.name', 'chat'],
  ['gen_ai.request.model', 'gpt-4o'],
  ['llm.model_name', 'gpt-4o-2024-08-06'],
  ['gen_ai.usage.input_tokens', 100n],
  ['gen_ai.usage.prompt_tokens', 90n],
  ['llm.token_count.prompt', 80n],
  ['ai.usage.inputTokens', 70n],
  ['gen_ai.usage.output_tokens', 20n],
  ['gen_ai.usage.cache_read.input_tokens', 300n],
  ['openinference.span.kind', 'LLM'],
  ['traceloop.span.kind', 'agent'],
  ['langfuse.observation.type', 'generation'],
  ['gen_ai.system', 'anthropic'],
  ['llm.provider', 'azure'],
  ['gen_ai.prompt.1.content', 'b'],
  ['gen_ai.prompt.0.content', 'a'],
  ['gen_ai.input.messages', '[]x'],
  ['input.value', 'in'],
  ['session.id', 's'],
  ['gen_ai.conversation.id', 'c'],
  ['error.type', 'e'],
  ['gen_ai.response.finish_reasons', '["stop"]'],
  ['http.request.method', 'GET'],
];

t.test('the order of attributes makes no difference, and neither does the encoding', async () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([...SOME_ATTRIBUTES], { minLength: 1 }), (attributes) => {
      const sorted = SOME_ATTRIBUTES.filter((attribute) => attributes.includes(attribute));
      const one = derivedOf(normalized.plain('traces', [{ attributes }])[0]);
      const other = derivedOf(normalized.plain('traces', [{ attributes: sorted }])[0]);
      const protobuf = derivedOf(normalized.viaProtobuf('traces', [{ attributes }])[0]);
      return JSON.stringify(one) === JSON.stringify(other) && JSON.stringify(one) === JSON.stringify(protobuf);
    }),
    { numRuns: 300 },
  );
});

t.test('records do not influence each other', async (t) => {
  const full = { attributes: Object.fromEntries(SOME_ATTRIBUTES) };
  const [, plain] = normalized.plain('traces', [full, { attributes: { 'http.request.method': 'GET' } }]);
  t.strictSame(derivedOf(plain), {});
});

t.test('metrics are not changed', async (t) => {
  const body = JSON.stringify({
    resourceMetrics: [
      {
        scopeMetrics: [
          {
            metrics: [
              {
                name: 'gen_ai.client.token.usage',
                sum: {
                  dataPoints: [
                    {
                      asInt: '5',
                      timeUnixNano: '1',
                      attributes: [{ key: 'gen_ai.token.type', value: { stringValue: 'input' } }],
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ],
  });
  const [row] = normalized.rows('metrics', 'json', Buffer.from(body));
  t.match(row, { name: 'gen_ai.client.token.usage', attributes: { 'gen_ai.token.type': 'input' } });
});

t.test('a message that is nested thousands of levels deep is kept as text', async (t) => {
  const deep = '['.repeat(20_000) + ']'.repeat(20_000);
  const events = ['gen_ai.user.message', 'gen_ai.user.message'].map((name) => ({
    name,
    attributes: { content: deep },
  }));
  const [row] = normalized.plain('traces', [{ attributes: { 'gen_ai.operation.name': 'chat' }, events }]);
  t.match(row?.['input_content'], /\[\[\[/);
});

t.test('a provider name with a million dots is kept like any unknown one', async (t) => {
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'a.'.repeat(500_000) };
  t.match(normalized.span(attributes)['provider'], /^a\.a\./);
});

t.test('numbers of a document keep their digits in the columns that show parts of it', async (t) => {
  const id = '1234567890123456789';
  const user = normalized.span({ 'mlflow.spanType': '"LLM"', 'mlflow.trace.user': id, 'mlflow.trace.session': id });
  t.match(user, { user_id: id, conversation_id: id });
  const message = (role: string): string => `{"role":"${role}","content":{"id":${id},"none":0.1}}`;
  const part = normalized.span({
    'logfire.msg': 'chat',
    request_data: `{"model":"m","messages":[${message('user')}]}`,
    response_data: `{"message":${message('assistant')}}`,
  });
  t.match(part, { input_content: `[${message('user')}]`, output_content: message('assistant') });
  const event = { name: 'gen_ai.user.message', attributes: { content: `{"id":${id}}` } };
  const list = normalized.span({ 'gen_ai.operation.name': 'chat' }, { events: [event, event] });
  const each = `{"role":"user","content":{"id":${id}}}`;
  t.equal(list['input_content'], `[${each},${each}]`);
});
