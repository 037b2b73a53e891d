/**
 * The derived columns of spans and log records. A slot is a reference to where its text stands; when that attribute may not be
 * stored, the slot is null, so that dropped content can not come back through a column.
 */
import {
  ATTRIBUTE_FLAGS, ATTRIBUTE_KIND, ATTRIBUTE_LENGTH, ATTRIBUTE_OFFSET, ATTRIBUTE_VERDICT, COST_INPUT, COST_OUTPUT, COST_TOTAL,
  DERIVED_BASE, DERIVED_CATEGORY, DERIVED_COSTS, DERIVED_COST_SOURCE, DERIVED_IS_ERROR, DERIVED_MASK, DERIVED_NUMBERS,
  DERIVED_SLOTS, DERIVED_STRIDE, DERIVED_USAGE_SCOPE, KIND_NONE, KIND_TEXT, NUMBER_CACHE_READ_TOKENS,
  NUMBER_CACHE_WRITE_TOKENS, NUMBER_INPUT_TOKENS, NUMBER_LATENCY_MS, NUMBER_OUTPUT_TOKENS, NUMBER_REASONING_TOKENS,
  NUMBER_TIME_TO_FIRST_TOKEN_MS, NUMBER_TOTAL_TOKENS, SLOT_AGENT_NAME, SLOT_CONVERSATION_ID, SLOT_DIALECT, SLOT_ERROR_TYPE,
  SLOT_FINISH_REASONS, SLOT_FLAGS, SLOT_INPUT_CONTENT, SLOT_LENGTH, SLOT_OFFSET, SLOT_OPERATION, SLOT_OUTPUT_CONTENT,
  SLOT_PRICE_ID, SLOT_PROVIDER, SLOT_REQUEST_MODEL, SLOT_RESPONSE_ID, SLOT_RESPONSE_MODEL, SLOT_RETRIEVAL_DOCUMENTS,
  SLOT_RETRIEVAL_QUERY, SLOT_ROW, SLOT_SOURCE, SLOT_STRIDE, SLOT_SYSTEM_INSTRUCTIONS, SLOT_TOOL_ARGUMENTS, SLOT_TOOL_CALL_ID,
  SLOT_TOOL_NAME, SLOT_TOOL_RESULT, SLOT_USER_ID, SOURCE_ATTRIBUTE, SOURCE_NONE, SOURCE_REFERENCES, SOURCE_TEXT, VERDICT_DROP,
} from "../../layout";
import {
  beginJson, booleanColumn, copying, countColumn, doubleColumn, endJson, moneyColumn, nullColumn, textColumn, wordColumn,
} from "./columns";
import { putPlain } from "./json-text";
import { FIXED_ROOM, out, put, putByte, room, setOut } from "./output";
import { ALWAYS, REPEAT_NOTHING_DERIVED, putRepeat, rememberRepeat } from "./repeats";
import { anyReference, attributeRow, escapeSince, putReferences, putValue, putValueText } from "./values";

export const DERIVED_FIELDS: u32 = 36;

const CATEGORY_WORDS: StaticArray<string> = [
  "", "model_call", "tool_step", "retrieval", "embedding", "agent", "workflow", "rerank", "guardrail", "evaluation", "memory",
  "prompt", "handoff", "plan", "session", "media",
];
const USAGE_SCOPE_WORDS: StaticArray<string> = ["", "own", "rollup"];
const COST_SOURCE_WORDS: StaticArray<string> = ["", "explicit", "derived"];

/** The word of a small number; numbers without one are null. */
// @ts-ignore: decorator
@inline
export function wordOf(words: StaticArray<string>, number: u32): string {
  return <i32>number < words.length ? unchecked(words[number]) : "";
}

// @ts-ignore: decorator
@inline
function slotAddress(derived: usize, slot: u32): usize {
  return derived + DERIVED_SLOTS + <usize>slot * SLOT_STRIDE;
}

/** What fills a slot, SOURCE_NONE when nothing does or nothing of it may be stored. */
function sourceOf(derived: usize, slot: u32): u32 {
  if ((load<u32>(derived, DERIVED_MASK) & (1 << slot)) == 0) return SOURCE_NONE;
  const at = slotAddress(derived, slot);
  const source = <u32>load<u8>(at, SLOT_SOURCE);
  if (source == SOURCE_REFERENCES) {
    return anyReference(load<u32>(at, SLOT_OFFSET), load<u32>(at, SLOT_LENGTH)) ? source : SOURCE_NONE;
  }
  const owner = load<u32>(at, SLOT_ROW);
  if (owner == 0) return source == SOURCE_TEXT ? source : SOURCE_NONE;
  const row = attributeRow(owner - 1);
  if (load<u8>(row, ATTRIBUTE_VERDICT) == VERDICT_DROP) return SOURCE_NONE;
  if (source == SOURCE_ATTRIBUTE && load<u8>(row, ATTRIBUTE_KIND) == KIND_NONE) return SOURCE_NONE;
  return source;
}

/** A slot as a text column: texts as they are, other values as JSON text. */
function slotColumn(label: string, derived: usize, slot: u32): void {
  const source = sourceOf(derived, slot);
  const at = slotAddress(derived, slot);
  if (source == SOURCE_NONE) {
    nullColumn(label);
  } else if (source == SOURCE_TEXT) {
    textColumn(label, load<u32>(at, SLOT_OFFSET), load<u32>(at, SLOT_LENGTH), load<u8>(at, SLOT_FLAGS));
  } else {
    const row = source == SOURCE_ATTRIBUTE ? attributeRow(load<u32>(at, SLOT_ROW) - 1) : 0;
    if (row != 0 && load<u8>(row, ATTRIBUTE_KIND) == KIND_TEXT) {
      textColumn(label, load<u32>(row, ATTRIBUTE_OFFSET), load<u32>(row, ATTRIBUTE_LENGTH), load<u8>(row, ATTRIBUTE_FLAGS));
    } else {
      printedColumn(label, row, load<u32>(at, SLOT_OFFSET), load<u32>(at, SLOT_LENGTH));
    }
  }
}

/** A text column holding the value at address `row`, or, without one, the object of the references. */
function printedColumn(label: string, row: usize, first: u32, count: u32): void {
  room(FIXED_ROOM);
  const field = out;
  if (copying) {
    setOut(field + 4);
  } else {
    put(label);
    putByte(0x22);
  }
  const start = out;
  if (row != 0) putValueText(row);
  else putReferences(first, count);
  if (copying) {
    store<u32>(field, bswap<u32>(<u32>(out - start)));
  } else {
    escapeSince(start);
    putByte(0x22);
  }
}

/** A slot as a JSON column: its text is JSON already. */
function jsonSlotColumn(label: string, derived: usize, slot: u32): void {
  const source = sourceOf(derived, slot);
  if (source == SOURCE_NONE) {
    nullColumn(label);
    return;
  }
  const at = slotAddress(derived, slot);
  const field = beginJson(label);
  if (source == SOURCE_TEXT) putPlain(load<u32>(at, SLOT_OFFSET), load<u32>(at, SLOT_LENGTH), load<u8>(at, SLOT_FLAGS));
  else if (source == SOURCE_ATTRIBUTE) putValue(attributeRow(load<u32>(at, SLOT_ROW) - 1));
  else putReferences(load<u32>(at, SLOT_OFFSET), load<u32>(at, SLOT_LENGTH));
  endJson(field);
}

// @ts-ignore: decorator
@inline
function numberOf(derived: usize, number: usize): f64 {
  return load<f64>(derived + (number << 3), DERIVED_NUMBERS);
}

function tokensColumn(label: string, derived: usize, number: usize): void {
  const tokens = numberOf(derived, number);
  if (tokens != tokens) nullColumn(label);
  else countColumn(label, <i64>tokens);
}

function millisecondsColumn(label: string, derived: usize, number: usize): void {
  const milliseconds = numberOf(derived, number);
  if (milliseconds != milliseconds) nullColumn(label);
  else doubleColumn(label, milliseconds);
}

function costColumn(label: string, derived: usize, cost: usize): void {
  moneyColumn(label, load<i64>(derived + (cost << 3), DERIVED_COSTS));
}

/** All derived columns of a record that has no derived row. */
function nothingDerived(): void {
  if (putRepeat(REPEAT_NOTHING_DERIVED, ALWAYS)) return;
  const start = out;
  renderNothing();
  rememberRepeat(REPEAT_NOTHING_DERIVED, ALWAYS, start);
}

function renderNothing(): void {
  room(2048);
  if (copying) {
    memory.fill(out, 0xff, DERIVED_FIELDS * 4);
    setOut(out + DERIVED_FIELDS * 4);
    return;
  }
  put(",\"category\":null,\"operation\":null,\"provider\":null,\"request_model\":null,\"response_model\":null,\"response_id\":null");
  put(",\"input_tokens\":null,\"output_tokens\":null,\"total_tokens\":null,\"cache_read_tokens\":null");
  put(",\"cache_write_tokens\":null,\"reasoning_tokens\":null,\"usage_scope\":null");
  put(",\"input_cost\":null,\"output_cost\":null,\"total_cost\":null,\"cost_source\":null,\"price_id\":null");
  put(",\"latency_ms\":null,\"time_to_first_token_ms\":null,\"finish_reasons\":null,\"is_error\":null,\"error_type\":null");
  put(",\"input_content\":null,\"output_content\":null,\"system_instructions\":null,\"tool_name\":null,\"tool_call_id\":null");
  put(",\"tool_arguments\":null,\"tool_result\":null,\"retrieval_query\":null,\"retrieval_documents\":null");
  put(",\"agent_name\":null,\"conversation_id\":null,\"user_id\":null,\"dialect\":null");
}

/** The derived columns in their order; `number` is the derived row + 1, 0 for none. */
export function derivedColumns(number: u32): void {
  if (number == 0) {
    nothingDerived();
    return;
  }
  const derived = <usize>DERIVED_BASE + <usize>(number - 1) * DERIVED_STRIDE;
  wordColumn(",\"category\":", wordOf(CATEGORY_WORDS, load<u8>(derived, DERIVED_CATEGORY)));
  slotColumn(",\"operation\":", derived, SLOT_OPERATION);
  slotColumn(",\"provider\":", derived, SLOT_PROVIDER);
  slotColumn(",\"request_model\":", derived, SLOT_REQUEST_MODEL);
  slotColumn(",\"response_model\":", derived, SLOT_RESPONSE_MODEL);
  slotColumn(",\"response_id\":", derived, SLOT_RESPONSE_ID);
  usageColumns(derived);
  millisecondsColumn(",\"latency_ms\":", derived, NUMBER_LATENCY_MS);
  millisecondsColumn(",\"time_to_first_token_ms\":", derived, NUMBER_TIME_TO_FIRST_TOKEN_MS);
  jsonSlotColumn(",\"finish_reasons\":", derived, SLOT_FINISH_REASONS);
  booleanColumn(",\"is_error\":", load<u8>(derived, DERIVED_IS_ERROR));
  slotColumn(",\"error_type\":", derived, SLOT_ERROR_TYPE);
  contentColumns(derived);
  slotColumn(",\"agent_name\":", derived, SLOT_AGENT_NAME);
  slotColumn(",\"conversation_id\":", derived, SLOT_CONVERSATION_ID);
  slotColumn(",\"user_id\":", derived, SLOT_USER_ID);
  slotColumn(",\"dialect\":", derived, SLOT_DIALECT);
}

function usageColumns(derived: usize): void {
  tokensColumn(",\"input_tokens\":", derived, NUMBER_INPUT_TOKENS);
  tokensColumn(",\"output_tokens\":", derived, NUMBER_OUTPUT_TOKENS);
  tokensColumn(",\"total_tokens\":", derived, NUMBER_TOTAL_TOKENS);
  tokensColumn(",\"cache_read_tokens\":", derived, NUMBER_CACHE_READ_TOKENS);
  tokensColumn(",\"cache_write_tokens\":", derived, NUMBER_CACHE_WRITE_TOKENS);
  tokensColumn(",\"reasoning_tokens\":", derived, NUMBER_REASONING_TOKENS);
  wordColumn(",\"usage_scope\":", wordOf(USAGE_SCOPE_WORDS, load<u8>(derived, DERIVED_USAGE_SCOPE)));
  costColumn(",\"input_cost\":", derived, COST_INPUT);
  costColumn(",\"output_cost\":", derived, COST_OUTPUT);
  costColumn(",\"total_cost\":", derived, COST_TOTAL);
  wordColumn(",\"cost_source\":", wordOf(COST_SOURCE_WORDS, load<u8>(derived, DERIVED_COST_SOURCE)));
  slotColumn(",\"price_id\":", derived, SLOT_PRICE_ID);
}

function contentColumns(derived: usize): void {
  slotColumn(",\"input_content\":", derived, SLOT_INPUT_CONTENT);
  slotColumn(",\"output_content\":", derived, SLOT_OUTPUT_CONTENT);
  slotColumn(",\"system_instructions\":", derived, SLOT_SYSTEM_INSTRUCTIONS);
  slotColumn(",\"tool_name\":", derived, SLOT_TOOL_NAME);
  slotColumn(",\"tool_call_id\":", derived, SLOT_TOOL_CALL_ID);
  slotColumn(",\"tool_arguments\":", derived, SLOT_TOOL_ARGUMENTS);
  slotColumn(",\"tool_result\":", derived, SLOT_TOOL_RESULT);
  slotColumn(",\"retrieval_query\":", derived, SLOT_RETRIEVAL_QUERY);
  slotColumn(",\"retrieval_documents\":", derived, SLOT_RETRIEVAL_DOCUMENTS);
}
