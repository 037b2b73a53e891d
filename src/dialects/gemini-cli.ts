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
    total_tokens: [{ attribute: 'total_token_count', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    cache_read_tokens: [{ attribute: 'cached_content_token_count', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    reasoning_tokens: [{ attribute: 'thoughts_token_count', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    tool_name: [{ attribute: 'function_name', only: ['gemini-cli', 'qwen-code'] }],
    tool_call_id: ['gen_ai.tool.call_id'],
    tool_arguments: [{ attribute: 'function_args', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    input_content: [{ attribute: 'request_text', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    output_content: [{ attribute: 'response_text', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    finish_reason: [{ attribute: 'finish_reasons', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
    error_type: [{ attribute: 'error_type', only: ['gemini-cli', 'qwen-code'], on: 'log' }],
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
  fields: { response_id: [{ attribute: 'response_id', only: ['qwen-code'], on: 'log' }] },
  events: {
    'qwen-code.api_response': 'generate_content',
    'qwen-code.api_error': 'generate_content',
    'qwen-code.tool_call': 'execute_tool',
  },
  cachedTokens: [{ cached: 'inside' }],
  reasoningOutside: true,
  sources: ['QwenLM/qwen-code'],
};
