/** Claude Code (log events and spans), and the spans of Anthropic's own clients and platform. */
import type { Dialect } from './dialect.ts';

export const CLAUDE_CODE: Dialect = {
  id: 'claude-code',
  scopes: ['com.anthropic.claude_code', 'com.anthropic.claude_code.*'],
  markers: ['claude_code.*'],
  services: ['claude-code'],
  fields: {
    operation: [{ attribute: 'span.type', only: ['claude-code', 'openrouter'] }],
    request_model: [{ attribute: 'model', only: ['claude-code', 'codex', 'gemini-cli', 'qwen-code'] }],
    response_id: [
      { attribute: 'request_id', only: ['claude-code'] },
      { attribute: 'client_request_id', only: ['claude-code'] },
    ],
    input_tokens: [{ attribute: 'input_tokens', only: ['claude-code'] }],
    output_tokens: [{ attribute: 'output_tokens', only: ['claude-code'] }],
    cache_read_tokens: [{ attribute: 'cache_read_tokens', only: ['claude-code'] }],
    cache_write_tokens: [{ attribute: 'cache_creation_tokens', only: ['claude-code'] }],
    cache_write_5m_tokens: [
      { attribute: 'cache_creation_5m_tokens', only: ['claude-code'] },
      {
        attribute: '(body)',
        paths: ['usage.cache_creation.ephemeral_5m_input_tokens'],
        only: ['claude-code'],
        on: 'log',
      },
    ],
    cache_write_1h_tokens: [
      { attribute: 'cache_creation_1h_tokens', only: ['claude-code'] },
      {
        attribute: '(body)',
        paths: ['usage.cache_creation.ephemeral_1h_input_tokens'],
        only: ['claude-code'],
        on: 'log',
      },
    ],
    cost_total: [
      { attribute: 'cost_usd', only: ['claude-code'], on: 'log' },
      { attribute: 'cost_usd_micros', only: ['claude-code'], on: 'log', unit: 'micro_usd' },
    ],
    service_tier: [{ attribute: 'speed', only: ['claude-code'] }],
    user_id: [
      { attribute: 'user.account_uuid', general: 'shared' },
      { attribute: 'user.email', general: 'shared', last: true },
    ],
    agent_name: [{ attribute: 'subagent_type', only: ['claude-code'] }],
    // `tool_name` has a prefix for tools of MCP servers on spans, and names none of them on log records.
    tool_name: [
      { attribute: 'gen_ai.tool.name', only: ['claude-code'] },
      { attribute: 'tool_parameters', paths: ['mcp_tool_name'], only: ['claude-code'] },
      { attribute: 'tool_name', only: ['claude-code', 'codex'] },
    ],
    tool_call_id: [{ attribute: 'tool_use_id', only: ['claude-code'] }],
    // `sluice export` writes the first, in addition to one of the next two.
    tool_arguments: [
      { attribute: 'gen_ai.tool.call.arguments', only: ['claude-code'] },
      { attribute: 'tool_input', only: ['claude-code'] },
      { attribute: 'tool_parameters', only: ['claude-code'] },
    ],
    input_content: [
      { attribute: 'prompt', only: ['claude-code', 'codex', 'gemini-cli'], on: 'log' },
      { attribute: 'new_context', only: ['claude-code'] },
    ],
    output_content: [
      { attribute: 'response', only: ['claude-code'], on: 'log' },
      { attribute: 'response.model_output', only: ['claude-code'] },
    ],
    system_instructions: [{ attribute: 'user_system_prompt', only: ['claude-code'] }],
    finish_reason: [{ attribute: 'stop_reason', only: ['claude-code'] }],
    time_to_first_token: [{ attribute: 'ttft_ms', only: ['claude-code', 'codex'], unit: 'ms' }],
    error_type: [{ attribute: 'status_code', only: ['claude-code'], on: 'log' }],
    latency: [
      { attribute: 'duration_ms', only: ['claude-code', 'codex', 'gemini-cli', 'qwen-code'], on: 'log', unit: 'ms' },
    ],
    failed: [{ attribute: 'success', only: ['claude-code', 'codex', 'gemini-cli', 'qwen-code'], on: 'log' }],
  },
  operations: {
    'span.type': { llm_request: 'chat', 'claude_code.llm_request': 'chat', tool: 'execute_tool', generation: 'chat' },
  },
  spanNames: {
    'claude_code.interaction': 'invoke_agent',
    'claude_code.llm_request': 'chat',
    'claude_code.tool': 'execute_tool',
    'claude_code.tool.execution': 'workflow',
    'claude_code.tool.blocked_on_user': 'workflow',
    'claude_code.hook': 'workflow',
  },
  events: {
    api_request: 'chat',
    api_error: 'chat',
    tool_result: 'execute_tool',
    assistant_response: 'event',
    'claude_code.api_request': 'chat',
    'claude_code.api_error': 'chat',
    'claude_code.tool_result': 'execute_tool',
    'claude_code.assistant_response': 'event',
  },
  cachedTokens: [{ cached: 'outside' }],
  content: [
    {
      only: ['claude-code'],
      attributes: [
        'prompt',
        'prompt_text',
        'error',
        'body',
        'body_ref',
        'user_prompt',
        'system_prompt',
        'system_prompt_preview',
        'system_reminders',
        'tool',
        'mcp_args',
        'hook_definitions',
        'command',
        'command_prefix',
        'full_command',
        'file_path',
      ],
    },
  ],
  sources: ['Claude Code documentation: monitoring usage'],
};

export const ANTHROPIC_NATIVE: Dialect = {
  id: 'anthropic-native',
  repeatsCallAbove: true,
  cachedTokens: [{ cached: 'inside' }],
  scopes: ['com.anthropic.sdk.*', 'com.anthropic.claude-platform'],
  hints: ['anthropic.request.id', 'anthropic.organization.id'],
  fields: {
    finish_reason: ['anthropic.message.stop_reason'],
    cache_write_5m_tokens: ['anthropic.usage.cache_creation.ephemeral_5m_input_tokens'],
    cache_write_1h_tokens: ['anthropic.usage.cache_creation.ephemeral_1h_input_tokens'],
    response_id: ['gen_ai.response.id', 'anthropic.request.id'],
  },
  sources: ['Anthropic platform documentation: api/opentelemetry/spans'],
};
