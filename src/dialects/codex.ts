/** The Codex command line: log events, token counts as strings. */
import type { Dialect } from './dialect.ts';

const TURN = 'codex.turn.token_usage';

export const CODEX: Dialect = {
  id: 'codex',
  scopes: ['codex*'],
  markers: ['codex.*'],
  services: ['codex_cli_rs', 'codex*'],
  logsRepeatSpans: true,
  // There is a span for each event of a stream; the last one has the usage.
  callsHaveUsage: true,
  fields: {
    request_model: [{ attribute: 'slug', only: ['codex'], on: 'log' }],
    input_tokens: [
      { attribute: 'input_token_count', only: ['codex', 'gemini-cli', 'qwen-code'] },
      { attribute: `${TURN}.input_tokens`, aggregate: true },
      // The model and so the cost are on the turn only, which counts where nothing below it has usage of its own.
      { attribute: 'gen_ai.usage.input_tokens', only: ['codex'], on: 'span', aggregate: true },
    ],
    output_tokens: [
      { attribute: 'output_token_count', only: ['codex', 'gemini-cli', 'qwen-code'] },
      { attribute: `${TURN}.output_tokens`, aggregate: true },
      { attribute: 'gen_ai.usage.output_tokens', only: ['codex'], on: 'span', aggregate: true },
    ],
    total_tokens: [
      { attribute: 'tool_token_count', only: ['codex'], on: 'log' },
      'codex.usage.total_tokens',
      { attribute: `${TURN}.total_tokens`, aggregate: true },
    ],
    cache_read_tokens: [{ attribute: 'cached_token_count', only: ['codex'], on: 'log' }, `${TURN}.cached_input_tokens`],
    cache_write_tokens: [
      { attribute: 'cache_write_token_count', only: ['codex'], on: 'log' },
      `${TURN}.cache_write_input_tokens`,
    ],
    reasoning_tokens: [
      'codex.usage.reasoning_output_tokens',
      { attribute: 'reasoning_token_count', only: ['codex'], on: 'log' },
      `${TURN}.reasoning_output_tokens`,
    ],
    conversation_id: [{ attribute: 'conversation.id', only: ['codex', 'pipecat'] }],
    user_id: [{ attribute: 'user.account_id', general: 'shared' }],
    tool_call_id: [{ attribute: 'call_id', only: ['codex', 'gemini-cli'] }],
    tool_arguments: [{ attribute: 'arguments', only: ['codex'], on: 'log' }],
    tool_result: [{ attribute: 'output', only: ['codex'], on: 'log' }],
  },
  // A task of the session is a turn, a review or a compaction; its usage is the sum of its calls.
  spanNames: {
    handle_responses: 'chat',
    'session_task.*': 'invoke_agent',
    // Its check of a call of a tool, which has the name and the id of the call.
    guardian_scoring_observation: 'guardrail',
  },
  events: { 'codex.sse_event': 'chat', 'codex.tool_result': 'execute_tool' },
  cachedTokens: [{ cached: 'inside' }],
  content: [{ only: ['codex'], attributes: ['prompt', 'tool_input', 'tool_output'] }],
  sources: ['openai/codex: codex-rs/otel'],
};
