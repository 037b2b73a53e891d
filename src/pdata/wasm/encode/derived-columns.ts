/** The derived columns in their order. Made from `src/pdata/columns.ts` by `npm run docs`. Do not edit. */
import * as layout from '../../layout';
import { booleanColumn, wordColumn, wordOf } from './columns';
import * as labels from './labels';
import { costColumn, jsonSlotColumn, numberColumn, slotColumn, wholeNumberColumn } from './slots';

/** `derived` is the address of a derived row. */
export function putDerivedRow(derived: usize): void {
  wordColumn(labels.CATEGORY, wordOf(labels.CATEGORY_WORDS, load<u8>(derived, layout.DERIVED_CATEGORY)));
  slotColumn(labels.OPERATION, derived, layout.SLOT_OPERATION);
  slotColumn(labels.PROVIDER, derived, layout.SLOT_PROVIDER);
  slotColumn(labels.REQUEST_MODEL, derived, layout.SLOT_REQUEST_MODEL);
  slotColumn(labels.RESPONSE_MODEL, derived, layout.SLOT_RESPONSE_MODEL);
  slotColumn(labels.RESPONSE_ID, derived, layout.SLOT_RESPONSE_ID);
  wholeNumberColumn(labels.INPUT_TOKENS, derived, layout.NUMBER_INPUT_TOKENS);
  wholeNumberColumn(labels.OUTPUT_TOKENS, derived, layout.NUMBER_OUTPUT_TOKENS);
  wholeNumberColumn(labels.TOTAL_TOKENS, derived, layout.NUMBER_TOTAL_TOKENS);
  wholeNumberColumn(labels.CACHE_READ_TOKENS, derived, layout.NUMBER_CACHE_READ_TOKENS);
  wholeNumberColumn(labels.CACHE_WRITE_TOKENS, derived, layout.NUMBER_CACHE_WRITE_TOKENS);
  wholeNumberColumn(labels.REASONING_TOKENS, derived, layout.NUMBER_REASONING_TOKENS);
  wordColumn(labels.USAGE_SCOPE, wordOf(labels.USAGE_SCOPE_WORDS, load<u8>(derived, layout.DERIVED_USAGE_SCOPE)));
  costColumn(labels.INPUT_COST, derived, layout.COST_INPUT);
  costColumn(labels.OUTPUT_COST, derived, layout.COST_OUTPUT);
  costColumn(labels.TOTAL_COST, derived, layout.COST_TOTAL);
  wordColumn(labels.COST_SOURCE, wordOf(labels.COST_SOURCE_WORDS, load<u8>(derived, layout.DERIVED_COST_SOURCE)));
  slotColumn(labels.PRICE_ID, derived, layout.SLOT_PRICE_ID);
  numberColumn(labels.LATENCY_MS, derived, layout.NUMBER_LATENCY_MS);
  numberColumn(labels.TIME_TO_FIRST_TOKEN_MS, derived, layout.NUMBER_TIME_TO_FIRST_TOKEN_MS);
  jsonSlotColumn(labels.FINISH_REASONS, derived, layout.SLOT_FINISH_REASONS);
  booleanColumn(labels.IS_ERROR, load<u8>(derived, layout.DERIVED_IS_ERROR));
  slotColumn(labels.ERROR_TYPE, derived, layout.SLOT_ERROR_TYPE);
  slotColumn(labels.INPUT_CONTENT, derived, layout.SLOT_INPUT_CONTENT);
  slotColumn(labels.OUTPUT_CONTENT, derived, layout.SLOT_OUTPUT_CONTENT);
  slotColumn(labels.SYSTEM_INSTRUCTIONS, derived, layout.SLOT_SYSTEM_INSTRUCTIONS);
  slotColumn(labels.TOOL_NAME, derived, layout.SLOT_TOOL_NAME);
  slotColumn(labels.TOOL_CALL_ID, derived, layout.SLOT_TOOL_CALL_ID);
  slotColumn(labels.TOOL_ARGUMENTS, derived, layout.SLOT_TOOL_ARGUMENTS);
  slotColumn(labels.TOOL_RESULT, derived, layout.SLOT_TOOL_RESULT);
  slotColumn(labels.RETRIEVAL_QUERY, derived, layout.SLOT_RETRIEVAL_QUERY);
  slotColumn(labels.RETRIEVAL_DOCUMENTS, derived, layout.SLOT_RETRIEVAL_DOCUMENTS);
  slotColumn(labels.AGENT_NAME, derived, layout.SLOT_AGENT_NAME);
  slotColumn(labels.CONVERSATION_ID, derived, layout.SLOT_CONVERSATION_ID);
  slotColumn(labels.USER_ID, derived, layout.SLOT_USER_ID);
  slotColumn(labels.DIALECT, derived, layout.SLOT_DIALECT);
}
