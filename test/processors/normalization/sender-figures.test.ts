/** Token counts of senders that count in their own way, in the forms that their code or documentation shows. */
import t from 'tap';
import { Normalized, type PlainRecord, type Row } from './normalized.ts';

const normalized = new Normalized();

interface Shape {
  readonly what: string;
  readonly record: PlainRecord;
  readonly row: Row;
}

const ADK = { scope: 'gcp.vertex.agent', name: 'call_llm' };
const document = (usage: object): string => JSON.stringify({ content: { parts: [] }, usage_metadata: usage });
const counts = (input: bigint, output: bigint): Readonly<Record<string, bigint>> => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
});
const THOUGHT = { category: 'model_call', usage_scope: 'own', reasoning_tokens: 30, dialect: 'google-adk' };

const GOOGLE_ADK: readonly Shape[] = [
  {
    what: 'ADK from 2.3 on, whose attributes include tool prompts and thoughts',
    record: {
      ...ADK,
      attributes: {
        ...counts(120n, 80n),
        'gen_ai.usage.reasoning.output_tokens': 30n,
        'gcp.vertex.agent.llm_response': document({
          prompt_token_count: 100,
          tool_use_prompt_token_count: 20,
          candidates_token_count: 50,
          thoughts_token_count: 30,
          total_token_count: 200,
        }),
      },
    },
    row: { ...THOUGHT, input_tokens: 120, output_tokens: 80, total_tokens: 200 },
  },
  {
    what: 'ADK from 2.3 on without documents',
    record: {
      ...ADK,
      attributes: {
        ...counts(120n, 80n),
        'gen_ai.usage.reasoning.output_tokens': 30n,
        'gcp.vertex.agent.llm_response': '{}',
      },
    },
    row: { ...THOUGHT, input_tokens: 120, output_tokens: 80, total_tokens: 200 },
  },
  {
    what: 'ADK before 2.3, whose attributes leave thoughts out',
    record: {
      ...ADK,
      attributes: {
        ...counts(100n, 50n),
        'gcp.vertex.agent.llm_response': document({
          prompt_token_count: 100,
          candidates_token_count: 50,
          thoughts_token_count: 30,
          total_token_count: 180,
        }),
      },
    },
    row: { ...THOUGHT, input_tokens: 100, output_tokens: 80, total_tokens: 180 },
  },
  {
    what: 'ADK before 2.3 without documents, with its experimental count',
    record: { ...ADK, attributes: { ...counts(100n, 50n), 'gen_ai.usage.experimental.reasoning_tokens': 30n } },
    row: { ...THOUGHT, input_tokens: 100, output_tokens: 80, total_tokens: 180 },
  },
  {
    what: 'ADK before 2.3 with its experimental count and the document',
    record: {
      ...ADK,
      attributes: {
        ...counts(100n, 50n),
        'gen_ai.usage.experimental.reasoning_tokens': 30n,
        'gcp.vertex.agent.llm_response': document({
          prompt_token_count: 100,
          candidates_token_count: 50,
          thoughts_token_count: 30,
          total_token_count: 180,
        }),
      },
    },
    row: { ...THOUGHT, input_tokens: 100, output_tokens: 80, total_tokens: 180 },
  },
  {
    what: 'ADK, an answer of nothing but thoughts',
    record: {
      ...ADK,
      attributes: {
        'gcp.vertex.agent.llm_response': document({ prompt_token_count: 100, thoughts_token_count: 30 }),
      },
    },
    row: { ...THOUGHT, input_tokens: 100, output_tokens: 30, total_tokens: 130 },
  },
  {
    what: 'ADK, a document whose counts are damaged',
    record: {
      ...ADK,
      attributes: {
        ...counts(120n, 80n),
        'gcp.vertex.agent.llm_response': document({
          prompt_token_count: 100,
          tool_use_prompt_token_count: -1,
          candidates_token_count: 1.5,
        }),
      },
    },
    row: { input_tokens: 120, output_tokens: 80, total_tokens: 200 },
  },
  {
    what: 'ADK for Java, which has its counts in a document in camelCase only',
    record: {
      ...ADK,
      attributes: {
        'gen_ai.operation.name': 'call_llm',
        'gen_ai.system': 'gcp.vertex.agent',
        'gen_ai.request.model': 'gemini-2.5-flash',
        'gcp.vertex.agent.llm_request': '{"model":"gemini-2.5-flash","config":{"systemInstruction":"be brief"}}',
        'gcp.vertex.agent.llm_response': JSON.stringify({
          content: { role: 'model', parts: [{ text: 'hi' }] },
          finishReason: 'STOP',
          modelVersion: 'gemini-2.5-flash-001',
          usageMetadata: {
            promptTokenCount: 100,
            toolUsePromptTokenCount: 20,
            candidatesTokenCount: 50,
            thoughtsTokenCount: 30,
            cachedContentTokenCount: 60,
            totalTokenCount: 200,
          },
        }),
      },
    },
    row: {
      ...THOUGHT,
      operation: 'chat',
      request_model: 'gemini-2.5-flash',
      response_model: 'gemini-2.5-flash-001',
      input_tokens: 120,
      output_tokens: 80,
      total_tokens: 200,
      cache_read_tokens: 60,
      finish_reasons: ['STOP'],
      system_instructions: 'be brief',
    },
  },
  {
    what: 'ADK for Go, whose document begins its names with capitals',
    record: {
      ...ADK,
      attributes: {
        'gcp.vertex.agent.llm_request': '{"Model":"gemini-2.5-flash"}',
        'gcp.vertex.agent.llm_response': JSON.stringify({
          FinishReason: 'STOP',
          UsageMetadata: { promptTokenCount: 100, candidatesTokenCount: 50, thoughtsTokenCount: 30 },
        }),
      },
    },
    row: { ...THOUGHT, request_model: 'gemini-2.5-flash', input_tokens: 100, output_tokens: 80, total_tokens: 180 },
  },
];

const GOOGLE: readonly Shape[] = [
  {
    what: 'version 5 of the AI SDK over Google, whose output leaves thoughts out',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.model.provider': 'google.generative-ai',
        'ai.usage.promptTokens': 100n,
        'ai.usage.completionTokens': 50n,
        'ai.response.providerMetadata': JSON.stringify({
          google: { usageMetadata: { thoughtsTokenCount: 30, totalTokenCount: 180 } },
        }),
      },
    },
    row: { input_tokens: 100, output_tokens: 80, reasoning_tokens: 30, total_tokens: 180 },
  },
  {
    what: 'version 6 of the AI SDK over Google, whose output includes them',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.usage.inputTokens': 100n,
        'ai.usage.outputTokens': 80n,
        'ai.usage.outputTokenDetails.reasoningTokens': 30n,
        'ai.response.providerMetadata': JSON.stringify({
          google: { usageMetadata: { thoughtsTokenCount: 30, totalTokenCount: 180 } },
        }),
      },
    },
    row: { input_tokens: 100, output_tokens: 80, reasoning_tokens: 30, total_tokens: 180 },
  },
];

const CODEX_TURN = {
  'codex.turn.token_usage.input_tokens': 14365n,
  'codex.turn.token_usage.output_tokens': 6n,
  'codex.turn.token_usage.cached_input_tokens': 10112n,
};
const TURN = {
  category: 'agent',
  usage_scope: 'rollup',
  input_tokens: 14365,
  output_tokens: 6,
  cache_read_tokens: 10112,
  dialect: 'codex',
};

const OTHERS: readonly Shape[] = [
  {
    what: 'a turn of Codex, which sums up its calls',
    record: { scope: 'codex_cli_rs', name: 'session_task.turn', attributes: { ...CODEX_TURN, model: 'gpt-5-codex' } },
    row: { ...TURN, request_model: 'gpt-5-codex', total_tokens: 14371 },
  },
  {
    what: 'a turn of Codex with every count that it may have',
    record: {
      scope: 'codex_cli_rs',
      name: 'session_task.review',
      attributes: {
        ...CODEX_TURN,
        'codex.turn.token_usage.non_cached_input_tokens': 4253n,
        'codex.turn.token_usage.cache_write_input_tokens': 5n,
        'codex.turn.token_usage.reasoning_output_tokens': 4n,
        'codex.turn.token_usage.total_tokens': 14371n,
      },
    },
    row: { ...TURN, cache_write_tokens: 5, reasoning_tokens: 4, total_tokens: 14371 },
  },
  {
    what: 'a turn of Codex with the standard names',
    record: {
      scope: 'codex_exec',
      name: 'session_task.turn',
      attributes: { ...counts(14365n, 6n), 'gen_ai.usage.cache_read.input_tokens': 10112n },
    },
    row: TURN,
  },
  {
    what: 'a call of Codex, which names no model, so that its turn has the cost',
    record: { scope: 'codex_exec', name: 'handle_responses', attributes: counts(14365n, 6n) },
    row: { category: 'model_call', usage_scope: 'rollup', input_tokens: 14365, output_tokens: 6 },
  },
  {
    what: 'an event of a stream of Codex, which is no call',
    record: { scope: 'codex_exec', name: 'handle_responses', attributes: { from: 'output_item_added' } },
    row: { category: 'workflow', usage_scope: null, input_tokens: null },
  },
  {
    what: 'a call of the Gemini command line, whose log record has the thoughts and the cached tokens too',
    record: {
      scope: 'gemini-cli',
      name: 'llm_call',
      attributes: {
        'gen_ai.operation.name': 'llm_call',
        'gen_ai.request.model': 'gemini-2.5-flash',
        ...counts(1303n, 200n),
      },
    },
    row: { category: 'model_call', usage_scope: null, input_tokens: 1303, output_tokens: 200, dialect: 'gemini-cli' },
  },
  {
    what: 'the AI SDK with a count that is for embeddings only',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'gen_ai.usage.input_tokens': 100n,
        'ai.usage.tokens': 120n,
      },
    },
    row: { category: 'model_call', input_tokens: 100 },
  },
  {
    what: 'the AI SDK with nothing but that count',
    record: { scope: 'ai', attributes: { 'ai.operationId': 'ai.generateText.doGenerate', 'ai.usage.tokens': 120n } },
    row: { category: 'model_call', input_tokens: null },
  },
  {
    what: 'an embedding of the AI SDK',
    record: { scope: 'ai', attributes: { 'ai.operationId': 'ai.embed.doEmbed', 'ai.usage.tokens': 120n } },
    row: { category: 'embedding', input_tokens: 120, usage_scope: 'own' },
  },
  {
    what: 'the outer span of an embedding of the AI SDK',
    record: { scope: 'ai', attributes: { 'ai.operationId': 'ai.embed', 'ai.usage.tokens': 120n } },
    row: { category: 'workflow', input_tokens: 120, usage_scope: 'rollup' },
  },
  {
    what: 'Strands until July 2026, whose total shows that cached tokens are apart',
    record: {
      scope: 'strands.telemetry.tracer',
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...counts(100n, 20n),
        'gen_ai.usage.total_tokens': 177n,
        'gen_ai.usage.cache_read_input_tokens': 50n,
        'gen_ai.usage.cache_write_input_tokens': 7n,
      },
    },
    row: { input_tokens: 157, output_tokens: 20, total_tokens: 177 },
  },
  {
    what: 'Strands since August 2026, which counts cached tokens as input',
    record: {
      scope: 'strands.telemetry.tracer',
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...counts(157n, 20n),
        'gen_ai.usage.total_tokens': 177n,
        'gen_ai.usage.cache_read_input_tokens': 50n,
        'gen_ai.usage.cache_write_input_tokens': 7n,
      },
    },
    row: { input_tokens: 157, output_tokens: 20, total_tokens: 177 },
  },
  {
    what: 'cache writes under the name of observability back ends',
    record: {
      attributes: {
        'gen_ai.operation.name': 'chat',
        ...counts(100n, 20n),
        'gen_ai.usage.input_cached_tokens': 50n,
        'gen_ai.usage.input_cache_creation': 7n,
      },
    },
    row: { input_tokens: 100, cache_read_tokens: 50, cache_write_tokens: 7 },
  },
];

const VOLTAGENT = { 'voltagent.agent.id': 'a', 'operation.id': 'o', 'entity.name': 'helper' };
const MASTRA_STREAM = {
  'mastra.operationId': 'mastra.stream.aisdk.doStream',
  'operation.name': 'mastra.stream.aisdk.doStream',
  'aisdk.model.provider': 'openai.responses',
  'aisdk.model.id': 'gpt-5-mini',
  'stream.usage.inputTokens': 100n,
  'stream.usage.outputTokens': 20n,
  'stream.usage.totalTokens': 120n,
  'stream.usage.reasoningTokens': 8n,
  'stream.usage.cachedInputTokens': 60n,
  'stream.response.finishReason': 'stop',
  'stream.response.text': 'hi',
};

const FRAMEWORKS: readonly Shape[] = [
  {
    what: 'a call of VoltAgent, whose usage is that of the last step of its agent',
    record: {
      attributes: {
        ...VOLTAGENT,
        'span.type': 'llm',
        'ai.model.name': 'openai/gpt-5-mini',
        'usage.prompt_tokens': 100n,
        'usage.completion_tokens': 20n,
        'usage.total_tokens': 120n,
        'usage.cached_tokens': 60n,
        'usage.reasoning_tokens': 8n,
        'ai.response.finish_reason': 'stop',
        'conversation.id': 'c',
        'user.id': 'u',
        input: 'hello',
        output: 'hi',
      },
    },
    row: {
      category: 'model_call',
      usage_scope: null,
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cache_read_tokens: 60,
      reasoning_tokens: 8,
      request_model: 'openai/gpt-5-mini',
      finish_reasons: ['stop'],
      conversation_id: 'c',
      user_id: 'u',
      input_content: 'hello',
      output_content: 'hi',
      dialect: 'voltagent',
    },
  },
  {
    what: 'an agent of VoltAgent, which sums up its calls',
    record: {
      attributes: {
        ...VOLTAGENT,
        'entity.type': 'agent',
        'agent.state': 'completed',
        'ai.model.name': 'gpt-5-mini',
        'usage.prompt_tokens': 100n,
        'usage.completion_tokens': 20n,
      },
    },
    row: { category: 'agent', usage_scope: 'rollup', input_tokens: 100, agent_name: 'helper', dialect: 'voltagent' },
  },
  {
    what: 'an agent of VoltAgent, whose usage is that of all its steps without the agents below it',
    record: {
      scope: '@voltagent/core',
      attributes: { 'entity.type': 'agent', 'usage.prompt_tokens': 100n, 'usage.completion_tokens': 20n },
    },
    row: { category: 'agent', usage_scope: 'own', input_tokens: 100, output_tokens: 20, dialect: 'voltagent' },
  },
  {
    what: 'a tool of VoltAgent',
    record: {
      attributes: {
        ...VOLTAGENT,
        'entity.type': 'agent',
        'span.type': 'tool',
        'tool.name': 'search',
        'tool.call.id': 'c1',
        input: '{"q":1}',
        output: '["found"]',
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'search',
      tool_call_id: 'c1',
      tool_arguments: '{"q":1}',
      tool_result: '["found"]',
      dialect: 'voltagent',
    },
  },
  {
    what: 'the same names without VoltAgent, which mean nothing',
    record: { attributes: { 'span.type': 'llm', 'usage.prompt_tokens': 100n } },
    row: { category: null, input_tokens: null, dialect: null },
  },
  {
    what: 'a call of Mastra before version 1',
    record: { scope: 'mastra', attributes: MASTRA_STREAM },
    row: {
      category: 'model_call',
      usage_scope: 'own',
      provider: 'openai',
      request_model: 'gpt-5-mini',
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      cache_read_tokens: 60,
      reasoning_tokens: 8,
      finish_reasons: ['stop'],
      output_content: 'hi',
      dialect: 'mastra',
    },
  },
  {
    what: 'the outer span of a call of Mastra before version 1',
    record: {
      scope: 'mastra',
      attributes: { ...MASTRA_STREAM, 'mastra.operationId': 'mastra.stream', 'operation.name': 'mastra.stream' },
    },
    row: { category: 'workflow', usage_scope: 'rollup', input_tokens: 100 },
  },
];

for (const { what, record, row } of [...GOOGLE_ADK, ...GOOGLE, ...OTHERS, ...FRAMEWORKS]) {
  t.test(`figures of ${what}`, async (t) => {
    t.match(normalized.plain('traces', [record])[0], row);
    t.match(normalized.viaProtobuf('traces', [record])[0], row, 'and through protobuf');
  });
}

t.test('the pseudonym of a user is used when there is no other name', async (t) => {
  const user = (attributes: NonNullable<PlainRecord['attributes']>): unknown => normalized.span(attributes)['user_id'];
  t.equal(user({ 'enduser.pseudo.id': 'p' }), 'p');
  t.equal(user({ 'enduser.pseudo.id': 'p', 'user.id': 'u' }), 'u');
  t.equal(user({ 'enduser.pseudo.id': 'p', 'enduser.id': 'e' }), 'e');
  t.equal(user({ 'enduser.pseudo.id': 'p', 'langfuse.user.id': 'l' }), 'l');
});
