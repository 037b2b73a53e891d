/**
 * Dialects without a capture, in the forms that their vendors document. A captured body is better evidence; it replaces
 * the case here.
 */
import t from 'tap';
import { Normalized, type PlainRecord, type Row, START } from './normalized.ts';

const normalized = new Normalized();

interface DocumentedCase {
  readonly what: string;
  readonly signal: 'traces' | 'logs';
  readonly record: PlainRecord;
  readonly row: Row;
}

const CLAUDE_CODE = { scope: 'com.anthropic.claude_code.events', resource: { 'service.name': 'claude-code' } };
const CODEX = { resource: { 'service.name': 'codex_cli_rs' } };
const AG2 = { scope: 'opentelemetry.instrumentation.ag2' };
const QWEN = { scope: 'qwen-code', resource: { 'service.name': 'qwen-code' } };
const GEMINI = { resource: { 'service.name': 'gemini-cli' } };

const SHAPES: readonly DocumentedCase[] = [
  {
    what: 'a call of Rig',
    signal: 'traces',
    record: {
      scope: 'shop',
      name: 'chat',
      attributes: {
        target: 'rig::agent_chat',
        'gen_ai.operation.name': 'chat',
        'gen_ai.agent.name': 'helper',
        'gen_ai.response.model': 'o4-mini-2025-04-16',
        'gen_ai.response.id': 'chatcmpl-1',
        'gen_ai.usage.input_tokens': 2010n,
        'gen_ai.usage.output_tokens': 311n,
        'gen_ai.usage.cache_read.input_tokens': 1510n,
      },
    },
    row: { dialect: 'rig', category: 'model_call', agent_name: 'helper', input_tokens: 2010, usage_scope: 'own' },
  },
  {
    what: 'an agent of Rig, which is in another trace than its calls and repeats their usage',
    signal: 'traces',
    record: {
      scope: 'shop',
      name: 'invoke_agent',
      attributes: {
        target: 'rig::agent::prompt_request',
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.prompt': 'How cold is Oslo?',
        'gen_ai.usage.input_tokens': 2010n,
        'gen_ai.usage.output_tokens': 311n,
      },
    },
    row: {
      dialect: 'rig',
      category: 'agent',
      input_content: 'How cold is Oslo?',
      input_tokens: 2010,
      usage_scope: null,
    },
  },
  {
    what: 'a span of AG2 that repeats the usage of the call beside it, which does not count',
    signal: 'traces',
    record: {
      ...AG2,
      name: 'record_usage model_call',
      attributes: {
        'ag2.span.type': 'usage',
        'ag2.usage.kind': 'model_call',
        'gen_ai.response.model': 'gpt-4o-mini',
        'gen_ai.usage.input_tokens': 10n,
        'gen_ai.usage.output_tokens': 3n,
      },
    },
    row: { category: null, operation: 'other', input_tokens: 10, usage_scope: null },
  },
  {
    what: 'a span of AG2 with usage that no call reports',
    signal: 'traces',
    record: {
      ...AG2,
      name: 'record_usage compaction',
      attributes: {
        'ag2.span.type': 'usage',
        'ag2.usage.kind': 'compaction',
        'gen_ai.provider.name': 'google',
        'gen_ai.response.model': 'gemini-2.5-flash',
        'gen_ai.usage.input_tokens': 10n,
        'gen_ai.usage.output_tokens': 3n,
        'gen_ai.usage.thinking_tokens': 4n,
      },
    },
    row: { category: 'model_call', output_tokens: 7, reasoning_tokens: 4, usage_scope: 'own' },
  },
  {
    what: 'the sum of a subtask of AG2',
    signal: 'traces',
    record: {
      ...AG2,
      attributes: {
        'ag2.span.type': 'usage',
        'ag2.usage.kind': 'subtask',
        'ag2.usage.label': 'worker',
        'gen_ai.response.model': 'gpt-4o-mini',
        'gen_ai.usage.input_tokens': 10n,
      },
    },
    row: { category: 'workflow', agent_name: 'worker', usage_scope: 'rollup' },
  },
  {
    what: 'a model call of AG2 on Anthropic, whose counts are apart',
    signal: 'traces',
    record: {
      ...AG2,
      attributes: {
        'ag2.span.type': 'llm',
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-haiku-4-5',
        'gen_ai.usage.input_tokens': 10n,
        'gen_ai.usage.output_tokens': 3n,
        'gen_ai.usage.cache_read_input_tokens': 100n,
        'gen_ai.usage.cache_creation_input_tokens': 1000n,
      },
    },
    row: { dialect: 'ag2', input_tokens: 1110, cache_read_tokens: 100, cache_write_tokens: 1000, usage_scope: 'own' },
  },
  {
    what: 'a conversation of AG2 before release 1, with the sum of its calls',
    signal: 'traces',
    record: {
      ...AG2,
      attributes: {
        'ag2.span.type': 'conversation',
        'gen_ai.operation.name': 'conversation',
        'gen_ai.request.model': 'gpt-4o-mini',
        'gen_ai.conversation.id': '42',
        'gen_ai.usage.input_tokens': 10n,
        'gen_ai.usage.output_tokens': 3n,
      },
    },
    row: { category: 'workflow', conversation_id: '42', usage_scope: 'rollup' },
  },
  {
    what: "Claude Code's log of a request, whose four counts are apart",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      body: 'claude_code.api_request',
      attributes: {
        'event.name': 'api_request',
        model: 'claude-sonnet-4-5',
        cost_usd: 0.012,
        duration_ms: 1200n,
        input_tokens: 100n,
        output_tokens: 20n,
        cache_read_tokens: 50n,
        cache_creation_tokens: 7n,
        request_id: 'req_1',
        'session.id': 's1',
        'user.account_uuid': 'u1',
      },
    },
    row: {
      category: 'model_call',
      operation: 'chat',
      request_model: 'claude-sonnet-4-5',
      input_tokens: 157,
      output_tokens: 20,
      total_tokens: 177,
      cache_read_tokens: 50,
      cache_write_tokens: 7,
      usage_scope: 'own',
      latency_ms: 1200,
      response_id: 'req_1',
      conversation_id: 's1',
      user_id: 'u1',
      is_error: false,
      dialect: 'claude-code',
    },
  },
  {
    what: "Claude Code's log of an older release, whose numbers are strings",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      name: 'claude_code.api_request',
      attributes: { model: 'm', input_tokens: '100', output_tokens: '20', duration_ms: '1200' },
    },
    row: { input_tokens: 100, output_tokens: 20, latency_ms: 1200 },
  },
  {
    what: "Claude Code's log of a failed request",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      name: 'claude_code.api_error',
      attributes: { model: 'm', error: 'overloaded', status_code: '529', duration_ms: 10n },
    },
    row: { category: 'model_call', is_error: true, error_type: '529' },
  },
  {
    what: "Claude Code's log of a tool",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      name: 'claude_code.tool_result',
      attributes: {
        tool_name: 'Bash',
        tool_use_id: 't1',
        success: 'false',
        duration_ms: 30n,
        tool_input: '{"command":"ls"}',
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'Bash',
      tool_call_id: 't1',
      tool_arguments: '{"command":"ls"}',
      is_error: true,
      latency_ms: 30,
    },
  },
  {
    what: "Claude Code's log of a prompt",
    signal: 'logs',
    record: { ...CLAUDE_CODE, name: 'claude_code.user_prompt', attributes: { prompt: 'hello', 'session.id': 's' } },
    row: { category: null, input_content: 'hello', conversation_id: 's', dialect: 'claude-code' },
  },
  {
    what: "Claude Code's log of a tool of an MCP server",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      name: 'claude_code.tool_result',
      attributes: {
        tool_name: 'mcp_tool',
        tool_parameters: '{"mcp_server_name":"maps","mcp_tool_name":"route"}',
        tool_input: '{"to":"x"}',
      },
    },
    row: { category: 'tool_step', tool_name: 'route', tool_arguments: '{"to":"x"}' },
  },
  {
    what: "Claude Code's span of a tool of an MCP server",
    signal: 'traces',
    record: {
      scope: 'com.anthropic.claude_code.tracing',
      name: 'claude_code.tool',
      attributes: { 'span.type': 'tool', tool_name: 'mcp__maps__route', 'gen_ai.tool.name': 'route' },
    },
    row: { category: 'tool_step', tool_name: 'route' },
  },
  {
    what: "Claude Code's log of an answer, beside that of its request",
    signal: 'logs',
    record: {
      ...CLAUDE_CODE,
      name: 'claude_code.assistant_response',
      attributes: { model: 'm', response: 'hello', request_id: 'r' },
    },
    row: { category: null, operation: 'event', output_content: 'hello', response_id: 'r', usage_scope: null },
  },
  {
    what: "Claude Code's span of a request",
    signal: 'traces',
    record: {
      scope: 'com.anthropic.claude_code.tracing',
      name: 'claude_code.llm_request',
      attributes: {
        'span.type': 'llm_request',
        'gen_ai.request.model': 'claude',
        input_tokens: 10n,
        cache_read_tokens: 5n,
        output_tokens: 2n,
        ttft_ms: 80n,
        stop_reason: 'end_turn',
      },
    },
    row: {
      operation: 'chat',
      input_tokens: 15,
      output_tokens: 2,
      time_to_first_token_ms: 80,
      finish_reasons: ['end_turn'],
    },
  },
  {
    what: "Codex's log of a completed response, whose counts are strings and whose tool count is the total",
    signal: 'logs',
    record: {
      ...CODEX,
      name: 'codex.sse_event',
      attributes: {
        'event.kind': 'response.completed',
        model: 'gpt-5-codex',
        input_token_count: '1000',
        output_token_count: '50',
        cached_token_count: '600',
        reasoning_token_count: '30',
        tool_token_count: '1050',
        cache_write_token_count: 200n,
        ttft_ms: 5n,
        'conversation.id': 'c1',
        'user.account_id': 'a1',
      },
    },
    row: {
      operation: 'chat',
      request_model: 'gpt-5-codex',
      input_tokens: 1000,
      output_tokens: 50,
      total_tokens: 1050,
      cache_read_tokens: 600,
      cache_write_tokens: 200,
      reasoning_tokens: 30,
      time_to_first_token_ms: 5,
      conversation_id: 'c1',
      user_id: 'a1',
      dialect: 'codex',
    },
  },
  {
    what: "Codex's check of a call of a tool, which is no call",
    signal: 'traces',
    record: {
      ...CODEX,
      name: 'guardian_scoring_observation',
      attributes: { call_id: 'c9', tool_name: 'exec_command' },
    },
    row: { operation: 'guardrail', category: 'guardrail', dialect: 'codex' },
  },
  {
    what: "Codex's log of a tool",
    signal: 'logs',
    record: {
      ...CODEX,
      name: 'codex.tool_result',
      attributes: {
        tool_name: 'shell',
        call_id: 'c9',
        arguments: '{"a":1}',
        output: 'done',
        success: 'true',
        duration_ms: '12',
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'shell',
      tool_call_id: 'c9',
      tool_arguments: '{"a":1}',
      tool_result: 'done',
      is_error: false,
      latency_ms: 12,
    },
  },
  {
    what: "Codex's prompt that was kept back",
    signal: 'logs',
    record: { ...CODEX, name: 'codex.user_prompt', attributes: { prompt: '[REDACTED]', 'conversation.id': 'c' } },
    row: { input_content: null, conversation_id: 'c' },
  },
  {
    what: "the Gemini command line's log of a response, whose output leaves thoughts out and whose tool count is no total",
    signal: 'logs',
    record: {
      ...GEMINI,
      name: 'gemini_cli.api_response',
      attributes: {
        model: 'gemini-2.5-pro',
        input_token_count: 1000n,
        output_token_count: 50n,
        cached_content_token_count: 400n,
        thoughts_token_count: 30n,
        tool_token_count: 5n,
        duration_ms: 900n,
        finish_reasons: ['STOP'],
        response_text: 'hi',
      },
    },
    row: {
      operation: 'generate_content',
      input_tokens: 1000,
      output_tokens: 80,
      total_tokens: 1080,
      cache_read_tokens: 400,
      reasoning_tokens: 30,
      latency_ms: 900,
      finish_reasons: ['STOP'],
      output_content: 'hi',
      dialect: 'gemini-cli',
    },
  },
  {
    what: "the Gemini command line's log of a tool",
    signal: 'logs',
    record: {
      ...GEMINI,
      name: 'gemini_cli.tool_call',
      attributes: {
        function_name: 'read',
        function_args: '{}x',
        success: false,
        error_type: 'denied',
        duration_ms: 3n,
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'read',
      tool_arguments: '{}x',
      is_error: true,
      error_type: 'denied',
      latency_ms: 3,
    },
  },
  {
    what: "Qwen Code's log of a response",
    signal: 'logs',
    record: {
      resource: { 'service.name': 'qwen-code' },
      name: 'qwen-code.api_response',
      attributes: {
        ...{ model: 'qwen3', response_id: 'chatcmpl-1' },
        ...{ input_token_count: 5n, output_token_count: 2n, thoughts_token_count: 1n },
      },
    },
    row: {
      operation: 'generate_content',
      response_id: 'chatcmpl-1',
      input_tokens: 5,
      output_tokens: 3,
      dialect: 'qwen-code',
    },
  },
  {
    what: "Qwen Code's record of a prompt",
    signal: 'logs',
    record: { ...QWEN, name: 'qwen-code.user_prompt', attributes: { prompt: 'How cold?', 'session.id': 's' } },
    row: { input_content: 'How cold?', conversation_id: 's', dialect: 'qwen-code' },
  },
  {
    what: "Qwen Code's record of a response as a span",
    signal: 'traces',
    record: {
      ...QWEN,
      name: 'API response from qwen3. Status: 200. Duration: 292ms.',
      attributes: {
        'event.name': 'qwen-code.api_response',
        ...{ model: 'qwen3', response_id: 'chatcmpl-1', response_text: 'cold', subagent_name: 'Explore' },
        ...{ input_token_count: 5n, output_token_count: 2n, cached_content_token_count: 3n, thoughts_token_count: 1n },
        ...{ total_token_count: 8n, duration_ms: 292n, 'log.bridge': true },
      },
    },
    row: {
      ...{ category: 'model_call', operation: 'generate_content', request_model: 'qwen3', response_id: 'chatcmpl-1' },
      ...{ input_tokens: 5, output_tokens: 3, total_tokens: 8, cache_read_tokens: 3, reasoning_tokens: 1 },
      ...{ usage_scope: 'own', output_content: 'cold', agent_name: 'Explore', dialect: 'qwen-code' },
    },
  },
  {
    what: "Qwen Code's record of a refused call as a span",
    signal: 'traces',
    record: {
      ...QWEN,
      name: 'API error for qwen3. Error: 429 too many. Duration: 12ms.',
      attributes: { 'event.name': 'qwen-code.api_error', model: 'qwen3', error_type: 'RateLimitError' },
      status: 2,
    },
    row: { category: 'model_call', request_model: 'qwen3', is_error: true, error_type: 'RateLimitError' },
  },
  {
    what: "Qwen Code's record of a tool as a span",
    signal: 'traces',
    record: {
      ...QWEN,
      name: 'Tool call: run_shell_command. Decision: auto_accept. Success: true. Duration: 11581ms.',
      attributes: {
        function_name: 'run_shell_command',
        function_args: '{}x',
        response_id: 'chatcmpl-1',
        success: true,
      },
    },
    row: { category: 'tool_step', tool_name: 'run_shell_command', tool_arguments: '{}x', dialect: 'qwen-code' },
  },
  {
    what: 'the second record of a response of the Gemini command line, without thoughts',
    signal: 'logs',
    record: {
      ...GEMINI,
      name: 'gen_ai.client.inference.operation.details',
      attributes: {
        'gen_ai.operation.name': 'generate_content',
        'gen_ai.request.model': 'gemini-2.5-flash',
        'gen_ai.usage.input_tokens': 1303n,
        'gen_ai.usage.output_tokens': 200n,
      },
    },
    row: {
      category: 'model_call',
      input_tokens: 1303,
      output_tokens: 200,
      usage_scope: 'rollup',
      dialect: 'gemini-cli',
    },
  },
  {
    what: 'a call of traceAI, with the model that answered under the name of the request model',
    signal: 'traces',
    record: {
      scope: 'traceai_openai',
      name: 'ChatCompletion',
      attributes: {
        'gen_ai.span.kind': 'LLM',
        'gen_ai.request.parameters': '{"model":"gpt-4o-mini"}',
        'gen_ai.request.model': 'gpt-4o-mini-2024-07-18',
        'gen_ai.input.messages.0.message.role': 'system',
        'gen_ai.input.messages.0.message.content': 'be brief',
        'gen_ai.input.messages.1.message.role': 'user',
        'gen_ai.input.messages.1.message.content': 'hello',
        'gen_ai.output.messages.0.message.content': 'hi',
        'input.value': 'be brief',
        'gen_ai.usage.input_tokens': 5n,
        'gen_ai.usage.output_tokens': 2n,
      },
    },
    row: {
      request_model: 'gpt-4o-mini',
      response_model: 'gpt-4o-mini-2024-07-18',
      input_content: /gen_ai.input.messages.1.message.content.*hello/,
      output_content: '{"gen_ai.output.messages.0.message.content":"hi"}',
      dialect: 'traceai',
    },
  },
  {
    what: 'a call of traceAI to Anthropic, whose answer alone has the cached tokens',
    signal: 'traces',
    record: {
      scope: 'traceai_anthropic',
      name: 'Messages',
      attributes: {
        'gen_ai.span.kind': 'LLM',
        'gen_ai.provider.name': 'anthropic',
        'gen_ai.request.model': 'claude-sonnet-4-5',
        'gen_ai.usage.input_tokens': 193n,
        'gen_ai.usage.output_tokens': 333n,
        'gen_ai.usage.total_tokens': 526n,
        'output.value':
          '{"id":"msg_1","stop_reason":"end_turn","usage":{"cache_creation_input_tokens":107,"cache_read_input_tokens":1003,"input_tokens":193,"output_tokens":333}}',
      },
    },
    row: {
      ...{
        input_tokens: 1303,
        output_tokens: 333,
        total_tokens: 1636,
        cache_read_tokens: 1003,
        cache_write_tokens: 107,
      },
      ...{ response_id: 'msg_1', finish_reasons: ['end_turn'], dialect: 'traceai' },
    },
  },
  {
    what: "AgentOps' span of a decorated tool",
    signal: 'traces',
    record: {
      name: 'get_weather.tool',
      scope: 'agentops',
      attributes: {
        'agentops.span.kind': 'tool',
        'operation.name': 'get_weather',
        'agentops.tool.input': '{"args": ["Oslo"]}',
        'agentops.tool.output': 'cold',
      },
    },
    row: {
      ...{ category: 'tool_step', operation: 'execute_tool', tool_name: 'get_weather', dialect: 'agentops' },
      ...{ tool_arguments: '{"args": ["Oslo"]}', tool_result: 'cold' },
    },
  },
  {
    what: "AgentOps' span of a decorated task",
    signal: 'traces',
    record: {
      name: 'ask.task',
      scope: 'agentops',
      attributes: {
        'agentops.span.kind': 'task',
        'operation.name': 'ask',
        'agentops.task.input': '{"args": ["How cold is Oslo?"]}',
        'agentops.task.output': 'cold',
      },
    },
    row: {
      ...{ category: 'workflow', operation: 'workflow', tool_name: null, dialect: 'agentops' },
      ...{ input_content: '{"args": ["How cold is Oslo?"]}', output_content: 'cold' },
    },
  },
  {
    what: "Langtrace's span of an embedding, whose type is that of a model call",
    signal: 'traces',
    record: {
      name: 'openai.embeddings.create',
      scope: 'langtrace_python_sdk.instrumentation.openai.instrumentation',
      attributes: {
        'langtrace.service.name': 'OpenAI',
        'langtrace.service.type': 'llm',
        'gen_ai.operation.name': 'embed',
        'gen_ai.request.model': 'text-embedding-3-small',
        'gen_ai.usage.input_tokens': 61n,
      },
    },
    row: { category: 'embedding', operation: 'embeddings', provider: 'openai', input_tokens: 61, dialect: 'langtrace' },
  },
  {
    what: "Laminar's span of an embedding, whose type is that of a model call",
    signal: 'traces',
    record: {
      name: 'openai.embeddings',
      scope: 'lmnr.tracer',
      attributes: {
        'lmnr.span.type': 'LLM',
        'gen_ai.system': 'openai',
        'gen_ai.request.model': 'text-embedding-3-small',
        'gen_ai.usage.input_tokens': 61n,
        'gen_ai.usage.output_tokens': 0n,
      },
    },
    row: { category: 'embedding', operation: 'embeddings', provider: 'openai', input_tokens: 61, dialect: 'laminar' },
  },
  {
    what: 'a tool of Laminar',
    signal: 'traces',
    record: {
      name: 'get_weather',
      scope: 'lmnr.tracer',
      attributes: { 'lmnr.span.type': 'TOOL', 'lmnr.span.input': '{"city":"Oslo"}', 'lmnr.span.output': '"cold"' },
    },
    row: {
      ...{ category: 'tool_step', operation: 'execute_tool', tool_name: 'get_weather', dialect: 'laminar' },
      ...{ tool_arguments: '{"city":"Oslo"}', tool_result: '"cold"' },
    },
  },
  {
    what: 'a refused call of OpenLIT, whose span has no attributes',
    signal: 'traces',
    record: { name: 'chat llama-3.3-70b-versatile', scope: 'openlit.instrumentation.groq', status: 2, attributes: {} },
    row: { category: 'model_call', operation: 'chat', is_error: true, dialect: 'openlit' },
  },
  {
    what: 'an embedding of AgentOps',
    signal: 'traces',
    record: {
      name: 'openai.embeddings',
      scope: 'openai',
      attributes: {
        'gen_ai.request.type': 'embedding',
        'gen_ai.system': 'OpenAI',
        'gen_ai.request.model': 'text-embedding-3-small',
        'gen_ai.usage.prompt_tokens': 13n,
      },
    },
    row: { category: 'embedding', operation: 'embeddings', provider: 'openai', input_tokens: 13 },
  },
  {
    what: 'an embedding of the client of Mistral, below associated properties of OpenLLMetry',
    signal: 'traces',
    record: {
      name: 'embeddings_v1_embeddings_post',
      scope: 'mistralai_sdk_tracer',
      attributes: {
        'traceloop.association.properties.user_id': 'u1',
        'agent.trace.public': '',
        'gen_ai.request.model': 'mistral-embed',
        'mistral_ai.operation.id': 'embeddings_v1_embeddings_post',
        'gen_ai.provider.name': 'mistral_ai',
        'gen_ai.usage.prompt_tokens': 13n,
        'mistral_ai.request.total_tokens': 13n,
      },
    },
    row: {
      ...{ category: 'embedding', operation: 'embeddings', provider: 'mistral_ai', input_tokens: 13 },
      ...{ total_tokens: 13, user_id: 'u1', dialect: 'mistral-sdk' },
    },
  },
  {
    what: 'a refused call of the client of Mistral, whose span has no status',
    signal: 'traces',
    record: {
      name: 'chat_completion_v1_chat_completions_post',
      scope: 'mistralai_sdk_tracer',
      attributes: {
        'agent.trace.public': '',
        'gen_ai.request.model': 'mistral-large-latest',
        'http.response.status_code': 429n,
        'mistral_ai.error.type': 'rate_limited',
      },
    },
    row: { category: 'model_call', is_error: true, error_type: 'rate_limited', dialect: 'mistral-sdk' },
  },
  {
    what: 'a tool that the client of Mistral ran',
    signal: 'traces',
    record: {
      name: 'function_call[get_weather]',
      scope: 'mistralai_sdk_tracer',
      attributes: {
        'agent.trace.public': '',
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'get_weather',
        'mistral_ai.tool.call.arguments': '{"city":"Oslo"}',
      },
    },
    row: { category: 'tool_step', tool_name: 'get_weather', tool_arguments: '{"city":"Oslo"}', dialect: 'mistral-sdk' },
  },
  {
    what: "LangWatch's span of a model call of its SDK for Python",
    signal: 'traces',
    record: {
      scope: 'langwatch',
      name: 'llm',
      attributes: {
        'langwatch.span.type': 'llm',
        'langwatch.metrics': '{"prompt_tokens":1303,"completion_tokens":333,"reasoning_tokens":133,"cost":0.5}',
        'langwatch.input': '{"type":"chat_messages","value":[{"role":"user","content":"hello"}]}',
        'gen_ai.request.model': 'openai/o4-mini',
        metadata: '{"user_id":"u","thread_id":"t"}',
      },
    },
    row: {
      provider: 'openai',
      request_model: 'openai/o4-mini',
      input_content: '[{"role":"user","content":"hello"}]',
      input_tokens: 1303,
      output_tokens: 333,
      reasoning_tokens: 133,
      user_id: 'u',
      conversation_id: 't',
      dialect: 'langwatch',
    },
  },
  {
    what: "LangWatch's span of a tool",
    signal: 'traces',
    record: {
      scope: 'langwatch',
      name: 'get_weather',
      attributes: {
        'langwatch.span.type': 'tool',
        'langwatch.input': '{"type":"json","value":{"city":"Oslo"}}',
        'langwatch.output': '{"type":"text","value":"cold"}',
      },
    },
    row: { category: 'tool_step', tool_name: 'get_weather', tool_arguments: '{"city":"Oslo"}', tool_result: 'cold' },
  },
  {
    what: "LangWatch's span of a retrieval",
    signal: 'traces',
    record: {
      scope: 'langwatch',
      name: 'search',
      attributes: {
        'langwatch.span.type': 'rag',
        'langwatch.input': '{"type":"text","value":"how cold"}',
        'langwatch.rag_contexts': '[{"document_id":"d","content":"cold"}]',
      },
    },
    row: {
      category: 'retrieval',
      retrieval_query: 'how cold',
      retrieval_documents: '[{"document_id":"d","content":"cold"}]',
    },
  },
  {
    what: "FastMCP's span of a prompt, which is no tool",
    signal: 'traces',
    record: {
      scope: 'fastmcp',
      name: 'prompts/get ask',
      attributes: {
        'mcp.method.name': 'prompts/get',
        'fastmcp.component.key': 'prompt:ask@',
        'gen_ai.prompt.name': 'ask',
      },
    },
    row: { category: 'prompt', tool_name: null },
  },
  {
    what: "Copilot's span",
    signal: 'traces',
    record: {
      resource: { 'service.name': 'copilot-chat' },
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'github',
        'copilot_chat.chat_session_id': 's',
        'copilot_chat.time_to_first_token': 40n,
        'gen_ai.usage.input_tokens': 9n,
        'gen_ai.usage.cache_read.input_tokens': 5n,
      },
    },
    row: { provider: 'github', conversation_id: 's', time_to_first_token_ms: 40, input_tokens: 9, dialect: 'copilot' },
  },
  {
    what: "the OpenTelemetry event with a call's details",
    signal: 'logs',
    record: {
      name: 'gen_ai.client.inference.operation.details',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.input.messages': [{ role: 'user' }],
        'gen_ai.output.messages': [{ role: 'assistant' }],
        'gen_ai.usage.input_tokens': 3n,
      },
    },
    row: {
      operation: 'chat',
      input_content: '[{"role":"user"}]',
      output_content: '[{"role":"assistant"}]',
      input_tokens: 3,
    },
  },
  {
    what: 'the older OpenTelemetry event with a message as its body',
    signal: 'logs',
    record: { name: 'gen_ai.user.message', attributes: { 'gen_ai.system': 'openai' }, body: { content: 'hello' } },
    row: { input_content: '{"content":"hello"}', dialect: 'otel' },
  },
  {
    what: 'the older OpenTelemetry event with a choice as its body',
    signal: 'logs',
    record: { name: 'gen_ai.choice', body: { index: 0n, finish_reason: 'stop', message: { content: 'hi' } } },
    row: { output_content: '{"index":0,"finish_reason":"stop","message":{"content":"hi"}}', finish_reasons: ['stop'] },
  },
  {
    what: 'the log record to which AgentCore moves the messages of a span',
    signal: 'logs',
    record: {
      scope: 'strands.telemetry.tracer',
      name: 'strands.telemetry.tracer',
      attributes: { 'session.id': 's' },
      body: {
        input: { messages: [{ role: 'user', content: 'hello' }] },
        output: { messages: [{ role: 'assistant', content: 'hi' }] },
      },
    },
    row: {
      input_content: '[{"role":"user","content":"hello"}]',
      output_content: '[{"role":"assistant","content":"hi"}]',
      conversation_id: 's',
      dialect: 'agentcore',
    },
  },
  {
    what: 'a search of the memory of Strands Agents, with the query and the entries as events',
    signal: 'traces',
    record: {
      scope: 'shop',
      attributes: {
        'gen_ai.operation.name': 'memory.search',
        'gen_ai.system': 'shop',
        'gen_ai.event.start_time': '2026-11-29T05:42:20.974Z',
      },
      events: [
        { name: 'memory.query', attributes: { content: 'cold?' } },
        { name: 'memory.results', attributes: { content: '[{"content":"7 degrees","storeName":"weather"}]' } },
      ],
    },
    row: {
      category: 'memory',
      operation: 'memory',
      provider: null,
      retrieval_query: 'cold?',
      retrieval_documents: '[{"content":"7 degrees","storeName":"weather"}]',
      dialect: 'strands',
    },
  },
  {
    what: "a span of FastAPI in LiteLLM's proxy, which puts the model of the request on every span",
    signal: 'traces',
    record: {
      name: 'fastapi.dependencies',
      scope: 'fastapi',
      attributes: {
        'gen_ai.request.model': 'gpt-4o-mini',
        'litellm.api_key.hash': 'h',
        'litellm.metadata.user_api_key_end_user_id': 'u1',
      },
    },
    row: { category: null, operation: null, usage_scope: null, user_id: 'u1', dialect: 'litellm' },
  },
  {
    what: "a guardrail of LiteLLM's proxy",
    signal: 'traces',
    record: { name: 'execute_guardrail pii', scope: 'litellm', attributes: { 'litellm.guardrail.name': 'pii' } },
    row: { category: 'guardrail', operation: 'guardrail', dialect: 'litellm' },
  },
  {
    what: "Azure AI's span with messages as events",
    signal: 'traces',
    record: {
      attributes: { 'gen_ai.system': 'az.ai.inference', 'gen_ai.operation.name': 'chat' },
      events: [
        { name: 'gen_ai.system.message', attributes: { 'gen_ai.event.content': '{"content":"be brief"}' } },
        { name: 'gen_ai.user.message', attributes: { 'gen_ai.event.content': '{"content":"hello"}' } },
        { name: 'gen_ai.choice', attributes: { 'gen_ai.event.content': '{"finish_reason":"stop"}' } },
      ],
    },
    row: {
      provider: 'azure.ai.inference',
      system_instructions: '{"content":"be brief"}',
      input_content: '{"content":"hello"}',
      output_content: '{"finish_reason":"stop"}',
      finish_reasons: ['stop'],
      dialect: 'azure-ai',
    },
  },
  {
    what: 'a span with several message events, which become one list',
    signal: 'traces',
    record: {
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [
        { name: 'gen_ai.user.message', attributes: { content: 'one' } },
        { name: 'gen_ai.assistant.message', attributes: { content: '{"two":2}' } },
      ],
    },
    row: { input_content: '[{"role":"user","content":"one"},{"role":"assistant","content":{"two":2}}]' },
  },
  {
    what: 'the oldest OpenTelemetry events of prompt and completion',
    signal: 'traces',
    record: {
      attributes: { 'gen_ai.operation.name': 'chat' },
      events: [
        { name: 'gen_ai.content.prompt', attributes: { 'gen_ai.prompt': 'p' } },
        { name: 'gen_ai.content.completion', attributes: { 'gen_ai.completion': 'c' } },
      ],
    },
    row: { input_content: 'p', output_content: 'c' },
  },
  {
    what: "Spring AI's span, with numbers as strings and cached tokens outside the input",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.system': 'anthropic',
        'spring.ai.chat.client.stream': 'false',
        'gen_ai.usage.input_tokens': '100',
        'gen_ai.usage.output_tokens': '20',
        'gen_ai.usage.total_tokens': '120',
        'gen_ai.usage.cache_read.input_tokens': '50',
        'gen_ai.response.finish_reasons': '["STOP"]',
      },
    },
    row: {
      input_tokens: 150,
      output_tokens: 20,
      total_tokens: 170,
      cache_read_tokens: 50,
      finish_reasons: ['STOP'],
      dialect: 'spring-ai',
    },
  },
  {
    what: "Spring AI's span of a model call, which has no attribute of its own",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.system': 'anthropic',
        'gen_ai.usage.input_tokens': '100',
        'gen_ai.usage.output_tokens': '20',
        'gen_ai.usage.cache_read.input_tokens': '50',
      },
    },
    row: { input_tokens: 150, output_tokens: 20, total_tokens: 170, cache_read_tokens: 50, dialect: 'spring-ai' },
  },
  {
    what: "Spring AI's span of a model call that failed",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm', 'gen_ai.response.model': 'none' },
    },
    row: { category: 'model_call', request_model: 'm', response_model: null, dialect: 'spring-ai' },
  },
  {
    what: "Spring AI's span of a client, whose system is the framework",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: { 'gen_ai.operation.name': 'framework', 'gen_ai.system': 'spring_ai', 'spring.ai.kind': 'advisor' },
    },
    row: { category: 'workflow', provider: null },
  },
  {
    what: "Spring AI's span of a search in a vector store",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: {
        'spring.ai.kind': 'vector_store',
        'db.operation.name': 'query',
        'db.vector.query.content': 'How cold is Oslo?',
      },
    },
    row: { category: 'retrieval', retrieval_query: 'How cold is Oslo?' },
  },
  {
    what: "Spring AI's span of documents added to a vector store, which searches nothing",
    signal: 'traces',
    record: {
      scope: 'org.springframework.boot',
      attributes: { 'spring.ai.kind': 'vector_store', 'db.operation.name': 'add' },
    },
    row: { category: null, dialect: 'spring-ai' },
  },
  {
    what: 'a call of LangChain4j that failed, as Quarkus traces it',
    signal: 'traces',
    record: {
      name: 'completion gpt-4o-mini',
      scope: 'io.quarkus.opentelemetry',
      attributes: { 'gen_ai.request.model': 'gpt-4o-mini' },
      events: [{ name: 'exception', attributes: { 'exception.type': 'RateLimitException' } }],
    },
    row: { category: 'model_call', is_error: true, error_type: 'RateLimitException', dialect: 'quarkus-langchain4j' },
  },
  {
    what: 'a span of its own that a service on Quarkus gave attributes of AI, with an exception that it caught',
    signal: 'traces',
    record: {
      name: 'OrderService.pay',
      scope: 'io.quarkus.opentelemetry',
      attributes: { 'gen_ai.request.model': 'gpt-4o-mini' },
      events: [{ name: 'exception', attributes: { 'exception.type': 'RateLimitException' } }],
    },
    row: { category: 'model_call', is_error: false, error_type: 'RateLimitException' },
  },
  {
    what: "the frame of Quarkus' AI service of LangChain4j, which has no attributes",
    signal: 'traces',
    record: { name: 'langchain4j.aiservices.Assistant.ask', scope: 'io.quarkus.opentelemetry' },
    row: { category: 'workflow', operation: 'workflow', is_error: false, dialect: 'quarkus-langchain4j' },
  },
  {
    what: 'a span of the tracer of Quarkus that is not about AI',
    signal: 'traces',
    record: {
      name: 'GET /orders',
      scope: 'io.quarkus.opentelemetry',
      attributes: { 'http.request.method': 'GET' },
      events: [{ name: 'exception', attributes: { 'exception.type': 'NotFound' } }],
    },
    row: { category: null, is_error: null, dialect: null },
  },
  {
    what: "Logfire's span that opened a stream, beside that of its answer",
    signal: 'traces',
    record: { scope: 'logfire.openai', attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' } },
    row: { category: 'workflow', request_model: 'm', dialect: 'logfire' },
  },
  {
    what: "Logfire's span of the answer to a stream without usage",
    signal: 'traces',
    record: {
      scope: 'logfire.openai',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.output.messages': '[{"role":"assistant","parts":[]}]',
      },
    },
    row: { category: 'model_call', dialect: 'logfire' },
  },
  {
    what: "Logfire's span of a call that failed",
    signal: 'traces',
    record: {
      scope: 'logfire.openai',
      status: 2,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' },
    },
    row: { category: 'model_call', is_error: true, dialect: 'logfire' },
  },
  {
    what: 'any other span of Spring Boot',
    signal: 'traces',
    record: { scope: 'org.springframework.boot', attributes: { 'http.request.method': 'GET', input: 'x' } },
    row: { category: null, dialect: null },
  },
  {
    what: "Anthropic's usage in a generation of Langfuse, without the provider",
    signal: 'traces',
    record: {
      scope: 'langfuse-sdk',
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.usage_details':
          '{"input_tokens":100,"output_tokens":50,"cache_read_input_tokens":40,"cache_creation_input_tokens":7}',
      },
    },
    row: { input_tokens: 147, output_tokens: 50, total_tokens: 197, cache_read_tokens: 40, cache_write_tokens: 7 },
  },
  {
    what: "LiteLLM's usage in a generation of Langfuse, which has the names of OpenAI and of Anthropic",
    signal: 'traces',
    record: {
      scope: 'langfuse-sdk',
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.usage_details':
          '{"prompt_tokens":147,"completion_tokens":50,"total_tokens":197,"prompt_tokens_details":{"cached_tokens":40},"cache_read_input_tokens":40,"cache_creation_input_tokens":7}',
      },
    },
    row: { input_tokens: 147, output_tokens: 50, total_tokens: 197, cache_read_tokens: 40, cache_write_tokens: 7 },
  },
  {
    what: "Sentry's span, whose cost names look like token names",
    signal: 'traces',
    record: {
      attributes: {
        'sentry.op': 'gen_ai.chat',
        'gen_ai.operation.type': 'ai_client',
        'gen_ai.usage.input_tokens': 9n,
        'gen_ai.usage.input_tokens.cached': 4n,
        'gen_ai.cost.input_tokens': 0.5,
      },
    },
    row: { category: 'model_call', input_tokens: 9, cache_read_tokens: 4, dialect: 'sentry' },
  },
  {
    what: "LiteLLM's inner span of the raw request, which repeats the call",
    signal: 'traces',
    record: {
      scope: 'litellm',
      name: 'raw_gen_ai_request',
      attributes: { 'gen_ai.usage.input_tokens': 9n, 'gen_ai.request.model': 'm' },
    },
    row: { category: 'workflow', usage_scope: 'rollup' },
  },
  {
    what: "OpenRouter's root span",
    signal: 'traces',
    record: {
      scope: 'openrouter',
      name: 'LLM Generation',
      attributes: {
        'span.type': 'generation',
        'gen_ai.usage.input_tokens': 9n,
        'gen_ai.usage.input_tokens.cached': 4n,
        'trace.metadata.openrouter.provider_slug': 'openai',
        'trace.metadata.openrouter.first_token_ms': 70n,
      },
    },
    row: {
      operation: 'chat',
      input_tokens: 9,
      cache_read_tokens: 4,
      provider: 'openai',
      time_to_first_token_ms: 70,
      usage_scope: 'own',
    },
  },
  {
    what: "OpenRouter's inner span, which repeats the call",
    signal: 'traces',
    record: { scope: 'openrouter', name: 'provider attempt 1: host', attributes: { 'gen_ai.usage.input_tokens': 9n } },
    row: { category: 'workflow', usage_scope: 'rollup' },
  },
  {
    what: "LiveKit's request, whose wrapper is none",
    signal: 'traces',
    record: {
      scope: 'livekit-agents',
      name: 'llm_request',
      attributes: { 'lk.response.ttft': 0.3, 'gen_ai.usage.input_tokens': 9n, 'lk.job_id': 'j' },
    },
    row: { operation: 'chat', time_to_first_token_ms: 300, input_tokens: 9, conversation_id: 'j', usage_scope: 'own' },
  },
  {
    what: "LiveKit's request, which has an attribute of Langfuse and names a host as the provider",
    signal: 'traces',
    record: {
      scope: 'livekit-agents',
      name: 'llm_request',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'api.openai.com',
        'gen_ai.request.model': 'gpt-4o-mini',
        'lk.llm_metrics': '{"prompt_tokens":9,"completion_tokens":3}',
        'langfuse.observation.completion_start_time': '"2026-12-01T10:45:28.493221+00:00"',
      },
    },
    row: { category: 'model_call', provider: 'openai', input_tokens: 9, output_tokens: 3, dialect: 'livekit' },
  },
  {
    what: "LiveKit's turn of an agent, with what the user said",
    signal: 'traces',
    record: {
      scope: 'livekit-agents',
      name: 'agent_turn',
      attributes: { 'lk.pii.user_input': 'How cold is it?', 'lk.pii.response.text': 'Cold.' },
    },
    row: { category: 'agent', input_content: 'How cold is it?', output_content: 'Cold.' },
  },
  {
    what: 'a search of Chroma through OpenLLMetry alone',
    signal: 'traces',
    record: {
      scope: 'opentelemetry.instrumentation.chromadb',
      name: 'chroma.query',
      attributes: { 'db.system': 'chroma', 'db.operation': 'query', 'db.chroma.query.n_results': 2n },
      events: [
        { name: 'db.query.result', attributes: { 'db.query.result.id': 'a', 'db.query.result.document': 'a sluice' } },
        { name: 'db.query.result', attributes: { 'db.query.result.id': 'b', 'db.query.result.document': 'a gate' } },
      ],
    },
    row: {
      ...{ category: 'retrieval', operation: 'retrieval', dialect: 'openllmetry' },
      retrieval_documents: '[{"content":"a sluice"},{"content":"a gate"}]',
    },
  },
  {
    what: 'the documents that are added to Chroma below associated properties of OpenLLMetry: no retrieval',
    signal: 'traces',
    record: {
      scope: 'opentelemetry.instrumentation.chromadb',
      name: 'chroma.add',
      attributes: { 'db.system': 'chroma', 'traceloop.association.properties.user_id': 'u1' },
    },
    row: { category: null, operation: null, user_id: 'u1', dialect: 'openllmetry' },
  },
  {
    what: 'the documents that are added to Chroma through OpenLIT: no retrieval',
    signal: 'traces',
    record: {
      scope: 'openlit.instrumentation.chroma',
      name: 'INSERT canary',
      attributes: {
        'gen_ai.operation.name': 'vectordb',
        'db.system.name': 'chroma',
        'db.operation.name': 'INSERT',
        'db.query.text': "['a', 'b']",
      },
    },
    row: { category: null, retrieval_query: null, dialect: 'openlit' },
  },
  {
    what: 'a search of Chroma through OpenLIT',
    signal: 'traces',
    record: {
      scope: 'openlit.instrumentation.chroma',
      name: 'GET canary',
      attributes: {
        'gen_ai.operation.name': 'vectordb',
        'db.system.name': 'chroma',
        'db.operation.name': 'GET',
        'db.query.text': 'texts=a',
      },
    },
    row: { category: 'retrieval', retrieval_query: 'texts=a', dialect: 'openlit' },
  },
  ...[
    ['@traceloop/instrumentation-chromadb', 'chromadb.query', 'ChromaDB'],
    ['@traceloop/instrumentation-chromadb', 'chromadb.get', 'ChromaDB'],
    ['@traceloop/instrumentation-qdrant', 'qdrant.retrieve', 'Qdrant'],
    ['opentelemetry.instrumentation.qdrant', 'qdrant.scroll', 'qdrant'],
    ['opentelemetry.instrumentation.weaviate', 'db.weaviate.gql.query.get.do', 'weaviate'],
  ].map(
    ([scope = '', name = '', system = '']): DocumentedCase => ({
      what: `a search through OpenLLMetry: ${name}`,
      signal: 'traces',
      record: { scope, name, attributes: { 'db.system': system } },
      row: { category: 'retrieval', operation: 'retrieval', dialect: 'openllmetry' },
    }),
  ),
  {
    what: 'a model call of another sender that names an operation of a database',
    signal: 'traces',
    record: {
      scope: 'shop',
      name: 'answer',
      attributes: {
        'gen_ai.request.model': 'm',
        'gen_ai.usage.input_tokens': 9n,
        'gen_ai.usage.output_tokens': 3n,
        'db.operation.name': 'UPDATE',
      },
    },
    row: { category: 'model_call', operation: 'chat', usage_scope: 'own' },
  },
  {
    what: 'a search of Pinecone through OpenLLMetry-JS',
    signal: 'traces',
    record: {
      scope: '@traceloop/instrumentation-pinecone',
      name: 'pinecone.query',
      attributes: { 'db.system': 'Pinecone' },
    },
    row: { category: 'retrieval', operation: 'retrieval', dialect: 'openllmetry' },
  },
  {
    what: "LiveKit's tool, in the newer spelling",
    signal: 'traces',
    record: {
      scope: 'livekit-agents',
      name: 'function_tool',
      attributes: {
        'lk.function_tool.name': 'f',
        'lk.function_tool.id': 'i',
        'lk.pii.function_tool.arguments': 'a',
        'lk.pii.function_tool.output': 'o',
        'lk.function_tool.is_error': true,
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'f',
      tool_call_id: 'i',
      tool_arguments: 'a',
      tool_result: 'o',
      is_error: true,
    },
  },
  {
    what: "Haystack's generator, whose usage is in its output only",
    signal: 'traces',
    record: {
      name: 'haystack.component.run',
      attributes: {
        'haystack.component.type': 'OpenAIChatGenerator',
        'haystack.component.output': '{"replies":[{"meta":{"usage":{"prompt_tokens":9,"completion_tokens":4}}}]}',
      },
    },
    row: { operation: 'chat', input_tokens: 9, output_tokens: 4, dialect: 'haystack' },
  },
  {
    what: "Braintrust's span, whose cache writes are told by lifetime",
    signal: 'traces',
    record: {
      attributes: {
        'braintrust.span_attributes': '{"type":"llm"}',
        'braintrust.metrics':
          '{"prompt_tokens":100,"completion_tokens":4,"prompt_cache_creation_5m_tokens":3,"prompt_cache_creation_1h_tokens":5,"time_to_first_token":0.5}',
        'braintrust.metadata': '{"model":"m","provider":"openai"}',
      },
    },
    row: {
      operation: 'chat',
      input_tokens: 100,
      output_tokens: 4,
      cache_write_tokens: 8,
      request_model: 'm',
      provider: 'openai',
      time_to_first_token_ms: 500,
    },
  },
  {
    what: "LangSmith's details as Python prints them",
    signal: 'traces',
    record: {
      scope: 'langsmith',
      attributes: {
        'langsmith.span.kind': 'llm',
        'gen_ai.usage.input_tokens': 100n,
        'gen_ai.usage.output_tokens': 4n,
        'gen_ai.usage.input_token_details': "{'cache_read': 60, 'cache_creation': 0, 'x': None}",
      },
    },
    row: { operation: 'chat', input_tokens: 100, cache_read_tokens: 60, cache_write_tokens: 0 },
  },
  {
    what: "LangSmith's retriever, whose operation name is wrong",
    signal: 'traces',
    record: {
      scope: 'langsmith',
      attributes: { 'langsmith.span.kind': 'retriever', 'gen_ai.operation.name': 'embeddings' },
    },
    row: { category: 'retrieval' },
  },
  {
    what: "LangWatch's typed metrics",
    signal: 'traces',
    record: {
      attributes: {
        'langwatch.span.type': 'llm',
        'langwatch.metrics': '{"type":"json","value":{"promptTokens":9,"completionTokens":4,"firstTokenMs":30}}',
        'langwatch.thread.id': 't',
      },
    },
    row: { operation: 'chat', input_tokens: 9, output_tokens: 4, time_to_first_token_ms: 30, conversation_id: 't' },
  },
  {
    what: "traceAI's span",
    signal: 'traces',
    record: {
      attributes: {
        'fi.span.kind': 'LLM',
        'gen_ai.usage.input_tokens': 9n,
        'gen_ai.usage.input_tokens.cache_read': 4n,
        'gen_ai.provider.name': 'anthropic',
      },
    },
    row: { operation: 'chat', input_tokens: 13, cache_read_tokens: 4, dialect: 'traceai' },
  },
  {
    what: "the protocol's tool call",
    signal: 'traces',
    record: {
      scope: 'mcp-python-sdk',
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'search',
        'gen_ai.tool.call.arguments': '{"q":1}',
        'error.type': 'tool_error',
      },
    },
    row: {
      category: 'tool_step',
      tool_name: 'search',
      tool_arguments: '{"q":1}',
      is_error: true,
      error_type: 'tool_error',
      dialect: 'mcp',
    },
  },
  {
    what: "Cloudflare's gateway",
    signal: 'traces',
    record: {
      attributes: {
        'gen_ai.model.provider': 'openai',
        'gen_ai.request.model': 'm',
        'gen_ai.prompt_json': '[1]',
        'gen_ai.completion_json': '[2]',
        'gen_ai.usage.output_tokens': 3n,
      },
    },
    row: {
      category: 'model_call',
      provider: 'openai',
      input_content: '[1]',
      output_content: '[2]',
      dialect: 'cloudflare',
    },
  },
  {
    what: 'the Go SDK of OpenLLMetry, with the oldest names',
    signal: 'traces',
    record: {
      attributes: {
        'llm.vendor': 'OpenAI',
        'llm.request.model': 'm',
        'llm.usage.prompt_tokens': 9n,
        'llm.usage.completion_tokens': 4n,
        'llm.prompts.0.content': 'p',
        'llm.request.type': 'chat',
      },
    },
    row: {
      operation: 'chat',
      provider: 'openai',
      request_model: 'm',
      input_tokens: 9,
      output_tokens: 4,
      input_content: '{"llm.prompts.0.content":"p"}',
    },
  },
  {
    what: 'the span of ADK that joins the answers of parallel tools, and is no step of a tool',
    signal: 'traces',
    record: { scope: 'gcp.vertex.agent', name: 'execute_tool (merged)', attributes: {} },
    row: { category: 'workflow', operation: 'workflow', tool_name: null },
  },
  {
    what: 'version 3 and 4 of the AI SDK, which may send no number',
    signal: 'traces',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.generateText.doGenerate',
        'ai.usage.promptTokens': Number.NaN,
        'ai.usage.completionTokens': 4n,
      },
    },
    row: { operation: 'chat', input_tokens: null, output_tokens: 4 },
  },
  {
    what: 'version 5 of the AI SDK, whose Anthropic counts leave the cache out',
    signal: 'traces',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.streamText.doStream',
        'ai.model.provider': 'anthropic.messages',
        'ai.usage.inputTokens': 700n,
        'ai.usage.cachedInputTokens': 60n,
      },
    },
    row: { provider: 'anthropic', input_tokens: 760, cache_read_tokens: 60 },
  },
  {
    what: 'version 6 of the AI SDK, whose counts include it',
    signal: 'traces',
    record: {
      scope: 'ai',
      attributes: {
        'ai.operationId': 'ai.streamText.doStream',
        'ai.model.provider': 'anthropic.messages',
        'ai.usage.inputTokens': 700n,
        'ai.usage.inputTokenDetails.cacheReadTokens': 60n,
      },
    },
    row: { input_tokens: 700, cache_read_tokens: 60 },
  },
];

for (const { what, signal, record, row } of SHAPES) {
  t.test(`${what} is read as documented`, async (t) => {
    t.match(normalized.plain(signal, [record])[0], row);
    t.match(normalized.viaProtobuf(signal, [record])[0], row, 'and through protobuf');
  });
}

t.test('a log record without a dialect stays plain, also from a known service', async (t) => {
  const [row] = normalized.plain('logs', [
    { ...CLAUDE_CODE, name: 'startup', attributes: { version: '1' }, start: START },
  ]);
  t.match(row, { dialect: null, category: null, is_error: null });
});
