/** The Gemini command line and its fork Qwen Code: the same call as up to three records. */
import type { Dialect } from './dialect.ts';

export const GEMINI_CLI: Dialect = {
  id: 'gemini-cli',
  scopes: ['gemini-cli'],
  markers: ['gemini_cli.*'],
  services: ['gemini-cli'],
  logsRepeatSpans: true,
  usageOnLogs: true,
  fields: {
    // The record `gen_ai.client.inference.operation.details` repeats `gemini_cli.api_response` without thoughts and
    // cached tokens.
    input_tokens: [{ attribute: 'gen_ai.usage.input_tokens', only: ['gemini-cli'], aggregate: true }],
    output_tokens: [{ attribute: 'gen_ai.usage.output_tokens', only: ['gemini-cli'], aggregate: true }],
    total_tokens: [{ attribute: 'total_token_count', only: ['gemini-cli', 'qwen-code'] }],
    cache_read_tokens: [{ attribute: 'cached_content_token_count', only: ['gemini-cli', 'qwen-code'] }],
    reasoning_tokens: [{ attribute: 'thoughts_token_count', only: ['gemini-cli', 'qwen-code'] }],
    tool_name: [{ attribute: 'function_name', only: ['gemini-cli', 'qwen-code'] }],
    tool_call_id: ['gen_ai.tool.call_id'],
    tool_arguments: [{ attribute: 'function_args', only: ['gemini-cli', 'qwen-code'] }],
    input_content: [{ attribute: 'request_text', only: ['gemini-cli', 'qwen-code'] }],
    output_content: [{ attribute: 'response_text', only: ['gemini-cli', 'qwen-code'] }],
    finish_reason: [{ attribute: 'finish_reasons', only: ['gemini-cli', 'qwen-code'] }],
    error_type: [{ attribute: 'error_type', only: ['gemini-cli', 'qwen-code'] }],
  },
  events: {
    'gemini_cli.api_response': 'generate_content',
    'gemini_cli.api_error': 'generate_content',
    'gemini_cli.tool_call': 'execute_tool',
  },
  cachedTokens: [{ cached: 'inside' }],
  reasoningOutside: true,
  content: [
    { only: ['gemini-cli', 'qwen-code'], attributes: ['prompt', 'hook_input', 'hook_output', 'stdout', 'stderr'] },
    // Sent only with `logPrompts`: content of tools, of the router of models, and of the check of tool calls.
    {
      only: ['gemini-cli'],
      attributes: ['metadata', 'reasoning', 'user_prompt', 'policy', 'tool_call', 'verdict_rationale'],
    },
    // The answer of a subagent.
    { only: ['qwen-code'], attributes: ['result'] },
  ],
  sources: ['google-gemini/gemini-cli: packages/core/src/telemetry'],
};

export const QWEN_CODE: Dialect = {
  id: 'qwen-code',
  scopes: ['qwen-code'],
  markers: ['qwen-code.*'],
  services: ['qwen-code'],
  logsRepeatSpans: true,
  fields: {
    response_id: [{ attribute: 'response_id', only: ['qwen-code'] }],
    agent_name: [{ attribute: 'subagent_name', only: ['qwen-code'] }],
    input_content: [{ attribute: 'prompt', only: ['qwen-code'] }],
  },
  // With an endpoint for traces alone, its log records are spans, named by the body of the record.
  spanNames: {
    'API response from *': 'generate_content',
    'API error for *': 'generate_content',
    'Tool call: *': 'execute_tool',
  },
  events: {
    'qwen-code.api_response': 'generate_content',
    'qwen-code.api_error': 'generate_content',
    'qwen-code.tool_call': 'execute_tool',
  },
  cachedTokens: [{ cached: 'inside' }],
  reasoningOutside: true,
  sources: ['QwenLM/qwen-code'],
};
