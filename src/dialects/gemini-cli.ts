/** The Gemini command line and its fork Qwen Code: the same call as up to three records. */
import type { Dialect } from './dialect.ts';

export const GEMINI_CLI: Dialect = {
  id: 'gemini-cli',
  scopes: ['gemini-cli'],
  markers: ['gemini_cli.*'],
  services: ['gemini-cli'],
  logsRepeatSpans: true,
  fields: {
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
  content: [{ only: ['gemini-cli', 'qwen-code'], attributes: ['prompt'] }],
  sources: ['google-gemini/gemini-cli: packages/core/src/telemetry'],
};

export const QWEN_CODE: Dialect = {
  id: 'qwen-code',
  scopes: ['qwen-code'],
  markers: ['qwen-code.*'],
  services: ['qwen-code'],
  logsRepeatSpans: true,
  events: {
    'qwen-code.api_response': 'generate_content',
    'qwen-code.api_error': 'generate_content',
    'qwen-code.tool_call': 'execute_tool',
  },
  cachedTokens: [{ cached: 'inside' }],
  reasoningOutside: true,
  sources: ['QwenLM/qwen-code'],
};
