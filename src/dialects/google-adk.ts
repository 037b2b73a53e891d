/** Google's Agent Development Kit: requests and responses as JSON documents. */
import type { Dialect, SourceRow } from './dialect.ts';

const REQUEST = 'gcp.vertex.agent.llm_request';
const RESPONSE = 'gcp.vertex.agent.llm_response';
/** The documents have the names of the language: Python, Java and JavaScript, Go. */
const USAGE = [
  ['usage_metadata', snakeCase],
  ['usageMetadata', String],
  ['UsageMetadata', String],
] as const;

/** Counts of the response. The attributes of releases before 2.3 leave tool prompts and thoughts out. */
function counts(names: readonly string[], more: Partial<SourceRow> = {}): SourceRow[] {
  return USAGE.map(([usage, spell]) => ({
    attribute: RESPONSE,
    paths: names.map((name) => `${usage}.${spell(name)}`),
    sum: true,
    ...more,
  }));
}

function repeated(count: string): SourceRow {
  return { attribute: `gen_ai.response.${count}`, last: true };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const GOOGLE_ADK: Dialect = {
  id: 'google-adk',
  scopes: ['gcp.vertex.agent'],
  markers: ['gcp.vertex.agent.*', 'gen_ai.system=gcp.vertex.agent'],
  fields: {
    request_model: [{ attribute: REQUEST, paths: ['model', 'Model'] }],
    response_model: [{ attribute: RESPONSE, paths: ['model_version', 'modelVersion', 'ModelVersion'] }],
    // ADK for Go repeats some counts of its document as attributes.
    input_tokens: [...counts(['promptTokenCount', 'toolUsePromptTokenCount']), repeated('prompt_token_count')],
    output_tokens: [
      ...counts(['candidatesTokenCount', 'thoughtsTokenCount'], { proves: 'inside' }),
      repeated('candidates_token_count'),
    ],
    total_tokens: [...counts(['totalTokenCount']), repeated('total_token_count')],
    cache_read_tokens: [
      'gen_ai.usage.experimental.cached_tokens',
      ...counts(['cachedContentTokenCount']),
      repeated('cached_content_token_count'),
    ],
    reasoning_tokens: [
      { attribute: 'gen_ai.usage.experimental.reasoning_tokens', proves: 'outside' },
      ...counts(['thoughtsTokenCount']),
    ],
    conversation_id: ['gcp.vertex.agent.session_id'],
    tool_call_id: ['gen_ai.tool_call.id'],
    tool_arguments: ['gcp.vertex.agent.tool_call_args'],
    tool_result: ['gcp.vertex.agent.tool_response'],
    input_content: [REQUEST],
    output_content: [RESPONSE],
    system_instructions: [
      {
        attribute: REQUEST,
        paths: ['config.system_instruction', 'config.systemInstruction', 'Config.systemInstruction'],
      },
    ],
    finish_reason: [{ attribute: RESPONSE, paths: ['finish_reason', 'finishReason', 'FinishReason'] }],
  },
  // The span of the client library repeats the one of the framework.
  callId: 'gcp.vertex.agent.event_id',
  spanNames: {
    call_llm: 'chat',
    'execute_tool (merged tools)': 'workflow',
    'execute_tool (merged)': 'workflow',
    send_data: 'other',
  },
  cachedTokens: [{ cached: 'inside' }],
  content: [REQUEST, RESPONSE, 'gcp.vertex.agent.data', 'gen_ai.tool_definitions'],
  sources: ['google/adk-python: src/google/adk/telemetry', 'google/adk-java', 'google/adk-go', 'google/adk-js'],
};
