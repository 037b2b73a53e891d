/** LiveKit Agents: voice sessions. */
import type { Dialect } from './dialect.ts';

const LIVEKIT: Dialect = {
  id: 'livekit',
  scopes: ['livekit-agents'],
  markers: ['lk.*'],
  fields: {
    response_id: ['lk.provider_request_ids'],
    input_tokens: [
      { attribute: 'lk.llm_metrics', paths: ['prompt_tokens'] },
      { attribute: 'lk.realtime_model_metrics', paths: ['input_tokens'] },
    ],
    output_tokens: [
      { attribute: 'lk.llm_metrics', paths: ['completion_tokens'] },
      { attribute: 'lk.realtime_model_metrics', paths: ['output_tokens'] },
    ],
    cache_read_tokens: ['gen_ai.usage.input_cached_tokens'],
    conversation_id: ['lk.job_id'],
    user_id: ['lk.participant_id'],
    agent_name: ['lk.agent_name'],
    tool_name: ['lk.function_tool.name'],
    tool_call_id: ['lk.function_tool.id'],
    tool_arguments: ['lk.pii.function_tool.arguments', 'lk.function_tool.arguments'],
    tool_result: ['lk.pii.function_tool.output', 'lk.function_tool.output'],
    input_content: ['lk.pii.chat_ctx', 'lk.chat_ctx'],
    output_content: ['lk.pii.response.text', 'lk.response.text'],
    system_instructions: ['lk.pii.instructions', 'lk.instructions'],
    time_to_first_token: [{ attribute: 'lk.response.ttft', unit: 's' }],
    failed: ['lk.function_tool.is_error'],
  },
  spanNames: {
    llm_request: 'chat',
    llm_node: 'workflow',
    llm_request_run: 'workflow',
    function_tool: 'execute_tool',
    agent_turn: 'invoke_agent',
    user_turn: 'workflow',
    agent_session: 'session',
    tts_request: 'speech',
    tts_node: 'workflow',
    tts_request_run: 'workflow',
    judge_evaluation: 'evaluation',
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [
    'lk.pii.*',
    'lk.response.function_calls',
    'lk.user_input',
    'lk.function_tool.args',
    'lk.input_text',
    'lk.user_transcript',
    'lk.room_name',
    'lk.participant_identity',
    'lk.amd.transcript',
    'lk.amd.reason',
    'lk.session_options',
  ],
  sources: ['livekit/agents: livekit-agents/livekit/agents/telemetry'],
};

export const LIVEKIT_FAMILY: readonly Dialect[] = [LIVEKIT];
