/** Labels, words and counts of the columns. Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit. */
import { put } from './output';

/** Numbers of fields of a COPY tuple. */
export const SPAN_FIELDS: u32 = 60;
export const PLAIN_SPAN_FIELDS: u32 = 19;
export const LOG_FIELDS: u32 = 53;
export const POINT_FIELDS: u32 = 26;
export const DERIVED_FIELDS: u32 = 36;

/** What NDJSON writes before the value of a column. */
export const PROJECT: string = ',"project":';
export const ENVIRONMENT: string = ',"environment":';
export const SERVICE_NAME: string = ',"service_name":';
export const TRACE_ID: string = ',"trace_id":';
export const SPAN_ID: string = ',"span_id":';
export const PARENT_SPAN_ID: string = ',"parent_span_id":';
export const TRACE_STATE: string = ',"trace_state":';
export const NAME: string = ',"name":';
export const KIND: string = ',"kind":';
export const STATUS: string = ',"status":';
export const STATUS_MESSAGE: string = ',"status_message":';
export const START_TIME_UNIX_NANO: string = ',"start_time_unix_nano":';
export const END_TIME_UNIX_NANO: string = ',"end_time_unix_nano":';
export const DURATION_NS: string = ',"duration_ns":';
export const FLAGS: string = ',"flags":';
export const DROPPED_ATTRIBUTES_COUNT: string = ',"dropped_attributes_count":';
export const DROPPED_EVENTS_COUNT: string = ',"dropped_events_count":';
export const DROPPED_LINKS_COUNT: string = ',"dropped_links_count":';
export const EVENTS: string = ',"events":';
export const LINKS: string = ',"links":';
export const CATEGORY: string = ',"category":';
export const OPERATION: string = ',"operation":';
export const PROVIDER: string = ',"provider":';
export const REQUEST_MODEL: string = ',"request_model":';
export const RESPONSE_MODEL: string = ',"response_model":';
export const RESPONSE_ID: string = ',"response_id":';
export const INPUT_TOKENS: string = ',"input_tokens":';
export const OUTPUT_TOKENS: string = ',"output_tokens":';
export const TOTAL_TOKENS: string = ',"total_tokens":';
export const CACHE_READ_TOKENS: string = ',"cache_read_tokens":';
export const CACHE_WRITE_TOKENS: string = ',"cache_write_tokens":';
export const REASONING_TOKENS: string = ',"reasoning_tokens":';
export const USAGE_SCOPE: string = ',"usage_scope":';
export const INPUT_COST: string = ',"input_cost":';
export const OUTPUT_COST: string = ',"output_cost":';
export const TOTAL_COST: string = ',"total_cost":';
export const COST_SOURCE: string = ',"cost_source":';
export const PRICE_ID: string = ',"price_id":';
export const LATENCY_MS: string = ',"latency_ms":';
export const TIME_TO_FIRST_TOKEN_MS: string = ',"time_to_first_token_ms":';
export const FINISH_REASONS: string = ',"finish_reasons":';
export const IS_ERROR: string = ',"is_error":';
export const ERROR_TYPE: string = ',"error_type":';
export const INPUT_CONTENT: string = ',"input_content":';
export const OUTPUT_CONTENT: string = ',"output_content":';
export const SYSTEM_INSTRUCTIONS: string = ',"system_instructions":';
export const TOOL_NAME: string = ',"tool_name":';
export const TOOL_CALL_ID: string = ',"tool_call_id":';
export const TOOL_ARGUMENTS: string = ',"tool_arguments":';
export const TOOL_RESULT: string = ',"tool_result":';
export const RETRIEVAL_QUERY: string = ',"retrieval_query":';
export const RETRIEVAL_DOCUMENTS: string = ',"retrieval_documents":';
export const AGENT_NAME: string = ',"agent_name":';
export const CONVERSATION_ID: string = ',"conversation_id":';
export const USER_ID: string = ',"user_id":';
export const DIALECT: string = ',"dialect":';
export const RESOURCE: string = ',"resource":';
export const SCOPE_NAME: string = ',"scope_name":';
export const SCOPE_VERSION: string = ',"scope_version":';
export const SCOPE_ATTRIBUTES: string = ',"scope_attributes":';
export const ATTRIBUTES: string = ',"attributes":';
export const RECEIVED_AT: string = ',"received_at":';
export const TIME_UNIX_NANO: string = ',"time_unix_nano":';
export const OBSERVED_TIME_UNIX_NANO: string = ',"observed_time_unix_nano":';
export const SEVERITY_NUMBER: string = ',"severity_number":';
export const SEVERITY_TEXT: string = ',"severity_text":';
export const EVENT_NAME: string = ',"event_name":';
export const BODY: string = ',"body":';
export const DESCRIPTION: string = ',"description":';
export const UNIT: string = ',"unit":';
export const TYPE: string = ',"type":';
export const TEMPORALITY: string = ',"temporality":';
export const IS_MONOTONIC: string = ',"is_monotonic":';
export const VALUE: string = ',"value":';
export const COUNT: string = ',"count":';
export const SUM: string = ',"sum":';
export const MIN: string = ',"min":';
export const MAX: string = ',"max":';
export const BUCKETS: string = ',"buckets":';
export const QUANTILES: string = ',"quantiles":';
export const EXEMPLARS: string = ',"exemplars":';
export const METADATA: string = ',"metadata":';

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
