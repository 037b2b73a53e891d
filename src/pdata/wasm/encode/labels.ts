/** Labels, words and counts of the columns. Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit. */
import { put } from './output';

/** Numbers of fields of a COPY tuple. */
export const SPAN_FIELDS: u32 = 60;
export const PLAIN_SPAN_FIELDS: u32 = 19;
export const LOG_FIELDS: u32 = 53;
export const POINT_FIELDS: u32 = 26;
export const DERIVED_FIELDS: u32 = 36;

/** What NDJSON writes before the value of a column. */
export const LABEL_PROJECT: string = ',"project":';
export const LABEL_ENVIRONMENT: string = ',"environment":';
export const LABEL_SERVICE_NAME: string = ',"service_name":';
export const LABEL_TRACE_ID: string = ',"trace_id":';
export const LABEL_SPAN_ID: string = ',"span_id":';
export const LABEL_PARENT_SPAN_ID: string = ',"parent_span_id":';
export const LABEL_TRACE_STATE: string = ',"trace_state":';
export const LABEL_NAME: string = ',"name":';
export const LABEL_KIND: string = ',"kind":';
export const LABEL_STATUS: string = ',"status":';
export const LABEL_STATUS_MESSAGE: string = ',"status_message":';
export const LABEL_START_TIME_UNIX_NANO: string = ',"start_time_unix_nano":';
export const LABEL_END_TIME_UNIX_NANO: string = ',"end_time_unix_nano":';
export const LABEL_DURATION_NS: string = ',"duration_ns":';
export const LABEL_FLAGS: string = ',"flags":';
export const LABEL_DROPPED_ATTRIBUTES_COUNT: string = ',"dropped_attributes_count":';
export const LABEL_DROPPED_EVENTS_COUNT: string = ',"dropped_events_count":';
export const LABEL_DROPPED_LINKS_COUNT: string = ',"dropped_links_count":';
export const LABEL_EVENTS: string = ',"events":';
export const LABEL_LINKS: string = ',"links":';
export const LABEL_CATEGORY: string = ',"category":';
export const LABEL_OPERATION: string = ',"operation":';
export const LABEL_PROVIDER: string = ',"provider":';
export const LABEL_REQUEST_MODEL: string = ',"request_model":';
export const LABEL_RESPONSE_MODEL: string = ',"response_model":';
export const LABEL_RESPONSE_ID: string = ',"response_id":';
export const LABEL_INPUT_TOKENS: string = ',"input_tokens":';
export const LABEL_OUTPUT_TOKENS: string = ',"output_tokens":';
export const LABEL_TOTAL_TOKENS: string = ',"total_tokens":';
export const LABEL_CACHE_READ_TOKENS: string = ',"cache_read_tokens":';
export const LABEL_CACHE_WRITE_TOKENS: string = ',"cache_write_tokens":';
export const LABEL_REASONING_TOKENS: string = ',"reasoning_tokens":';
export const LABEL_USAGE_SCOPE: string = ',"usage_scope":';
export const LABEL_INPUT_COST: string = ',"input_cost":';
export const LABEL_OUTPUT_COST: string = ',"output_cost":';
export const LABEL_TOTAL_COST: string = ',"total_cost":';
export const LABEL_COST_SOURCE: string = ',"cost_source":';
export const LABEL_PRICE_ID: string = ',"price_id":';
export const LABEL_LATENCY_MS: string = ',"latency_ms":';
export const LABEL_TIME_TO_FIRST_TOKEN_MS: string = ',"time_to_first_token_ms":';
export const LABEL_FINISH_REASONS: string = ',"finish_reasons":';
export const LABEL_IS_ERROR: string = ',"is_error":';
export const LABEL_ERROR_TYPE: string = ',"error_type":';
export const LABEL_INPUT_CONTENT: string = ',"input_content":';
export const LABEL_OUTPUT_CONTENT: string = ',"output_content":';
export const LABEL_SYSTEM_INSTRUCTIONS: string = ',"system_instructions":';
export const LABEL_TOOL_NAME: string = ',"tool_name":';
export const LABEL_TOOL_CALL_ID: string = ',"tool_call_id":';
export const LABEL_TOOL_ARGUMENTS: string = ',"tool_arguments":';
export const LABEL_TOOL_RESULT: string = ',"tool_result":';
export const LABEL_RETRIEVAL_QUERY: string = ',"retrieval_query":';
export const LABEL_RETRIEVAL_DOCUMENTS: string = ',"retrieval_documents":';
export const LABEL_AGENT_NAME: string = ',"agent_name":';
export const LABEL_CONVERSATION_ID: string = ',"conversation_id":';
export const LABEL_USER_ID: string = ',"user_id":';
export const LABEL_DIALECT: string = ',"dialect":';
export const LABEL_RESOURCE: string = ',"resource":';
export const LABEL_SCOPE_NAME: string = ',"scope_name":';
export const LABEL_SCOPE_VERSION: string = ',"scope_version":';
export const LABEL_SCOPE_ATTRIBUTES: string = ',"scope_attributes":';
export const LABEL_ATTRIBUTES: string = ',"attributes":';
export const LABEL_RECEIVED_AT: string = ',"received_at":';
export const LABEL_TIME_UNIX_NANO: string = ',"time_unix_nano":';
export const LABEL_OBSERVED_TIME_UNIX_NANO: string = ',"observed_time_unix_nano":';
export const LABEL_SEVERITY_NUMBER: string = ',"severity_number":';
export const LABEL_SEVERITY_TEXT: string = ',"severity_text":';
export const LABEL_EVENT_NAME: string = ',"event_name":';
export const LABEL_BODY: string = ',"body":';
export const LABEL_DESCRIPTION: string = ',"description":';
export const LABEL_UNIT: string = ',"unit":';
export const LABEL_TYPE: string = ',"type":';
export const LABEL_TEMPORALITY: string = ',"temporality":';
export const LABEL_IS_MONOTONIC: string = ',"is_monotonic":';
export const LABEL_VALUE: string = ',"value":';
export const LABEL_COUNT: string = ',"count":';
export const LABEL_SUM: string = ',"sum":';
export const LABEL_MIN: string = ',"min":';
export const LABEL_MAX: string = ',"max":';
export const LABEL_BUCKETS: string = ',"buckets":';
export const LABEL_QUANTILES: string = ',"quantiles":';
export const LABEL_EXEMPLARS: string = ',"exemplars":';
export const LABEL_METADATA: string = ',"metadata":';

/** The words of a column by number; an empty one is null. */
export const KIND_WORDS: StaticArray<string> = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'];
export const STATUS_WORDS: StaticArray<string> = ['unset', 'ok', 'error'];
export const CATEGORY_WORDS: StaticArray<string> = [
  '',
  'model_call',
  'tool_step',
  'retrieval',
  'embedding',
  'agent',
  'workflow',
  'rerank',
  'guardrail',
  'evaluation',
  'memory',
  'prompt',
  'handoff',
  'plan',
  'session',
  'media',
];
export const USAGE_SCOPE_WORDS: StaticArray<string> = ['', 'own', 'rollup'];
export const COST_SOURCE_WORDS: StaticArray<string> = ['', 'explicit', 'derived'];
export const TYPE_WORDS: StaticArray<string> = ['', 'gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'];
export const TEMPORALITY_WORDS: StaticArray<string> = ['', 'delta', 'cumulative'];

/** Bytes of the derived columns in NDJSON if all are null, and of a COPY tuple likewise, with slack for `put`. */
export const NOTHING_DERIVED_ROOM: usize = 745;

/** Puts the derived columns of an NDJSON line, all null. */
export function putNothingDerived(): void {
  put(',"category":null,"operation":null,"provider":null,"request_model":null,"response_model":null');
  put(',"response_id":null,"input_tokens":null,"output_tokens":null,"total_tokens":null,"cache_read_tokens":null');
  put(',"cache_write_tokens":null,"reasoning_tokens":null,"usage_scope":null,"input_cost":null,"output_cost":null');
  put(',"total_cost":null,"cost_source":null,"price_id":null,"latency_ms":null,"time_to_first_token_ms":null');
  put(',"finish_reasons":null,"is_error":null,"error_type":null,"input_content":null,"output_content":null');
  put(',"system_instructions":null,"tool_name":null,"tool_call_id":null,"tool_arguments":null,"tool_result":null');
  put(',"retrieval_query":null,"retrieval_documents":null,"agent_name":null,"conversation_id":null,"user_id":null');
  put(',"dialect":null');
}
