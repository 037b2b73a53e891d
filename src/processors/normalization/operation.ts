/** The operation of a record: by its name in the dialect, then by operation attributes, then by the fields it has. */
import { KIND_TEXT } from '../../pdata/layout.ts';
import { fieldNumber, operationNumber, PLACE_BITS, type Rule } from './rules.ts';
import type { RecordView } from './record-view.ts';

const OPERATION = fieldNumber('operation');
const UNKNOWN = operationNumber('unknown');
const MODEL_CALL_OPERATION = operationNumber('chat');
/** The attribute whose unknown words are kept as sent. */
const OPERATION_NAME = 'gen_ai.operation.name';
const MODEL_FIELDS = [fieldNumber('request_model'), fieldNumber('response_model')];
const TOOL_OPERATION = operationNumber('execute_tool');
const TOOL_NAME = fieldNumber('tool_name');
const TOOL_CALL_ID = fieldNumber('tool_call_id');
const TOOL_FIELDS = [TOOL_CALL_ID, fieldNumber('tool_arguments'), fieldNumber('tool_result')];
const RETRIEVAL = operationNumber('retrieval');
const INPUT_TOKENS = fieldNumber('input_tokens');
const OUTPUT_TOKENS = fieldNumber('output_tokens');
const FRAME_OPERATION = operationNumber('workflow');
const OUTPUT_CONTENT = fieldNumber('output_content');
const CALL_FIELDS = [OUTPUT_TOKENS, OUTPUT_CONTENT, INPUT_TOKENS, fieldNumber('finish_reason')];

/** Finds the operation and sets it on the view. Returns the row of an unknown operation name, or -1. */
export function findOperation(view: RecordView, name: string | null): number {
  const { lookups, fields, reader, dialect } = view;
  const names = view.place === PLACE_BITS.log ? lookups.events[dialect] : lookups.spanNames[dialect];
  const named = name === null ? undefined : names?.find(name);
  if (named !== undefined) {
    view.setOperation(isFrame(view, named) ? FRAME_OPERATION : named);
    return -1;
  }
  let ownWord = -1;
  const candidates = fields.countOf(OPERATION);
  for (let index = 0; index < candidates; index++) {
    const rule = fields.ruleAt(OPERATION, index);
    const row = fields.rowAt(OPERATION, index);
    const found = operationAt(view, rule, row);
    if (found !== 0 && found !== UNKNOWN) {
      view.setOperation(isFrame(view, found) ? FRAME_OPERATION : found);
      return view.category === 0 && rule.attribute === OPERATION_NAME ? row : -1;
    }
    if (rule.attribute === OPERATION_NAME && reader.isText(row)) ownWord = row;
  }
  const evident = evidentOperation(view);
  if (evident !== 0) view.setOperation(evident);
  return ownWord;
}

/**
 * The operation of a record that names none that is known, by the attributes that it has; 0: none. Log records have
 * event names, so that a model or a tool alone says nothing about them.
 */
function evidentOperation(view: RecordView): number {
  const { suggested } = view.fields;
  if (suggested !== 0 && suggested !== RETRIEVAL) return suggested;
  if (looksLikeModelCall(view)) return MODEL_CALL_OPERATION;
  if (view.place !== PLACE_BITS.span) return 0;
  if (suggested !== 0) return suggested;
  const tool = looksLikeToolStep(view);
  // A model may ask for tools, and a tool may know the model of its agent: both together say nothing.
  const model = MODEL_FIELDS.some((field) => hasOwnName(view, field));
  if (model) return tool || repeatsOthers(view) ? 0 : MODEL_CALL_OPERATION;
  return tool ? TOOL_OPERATION : 0;
}

function operationAt(view: RecordView, rule: Rule, row: number): number {
  const { lookups, reader } = view;
  const { attribute } = rule;
  const part = rule.paths === null ? null : reader.part(rule, row);
  if (part !== null) return lookups.operationOfString(rule, part);
  if (attribute === 'operation.name') {
    return lookups.operationOfString(rule, (reader.text(row) ?? '').split(' ', 1)[0] ?? '');
  }
  const found = lookups.operationOfWord(rule, reader.word(lookups.words, row));
  if (found !== 0 || !lookups.hasOpenWords(rule)) return found;
  return reader.at(row).kind === KIND_TEXT ? lookups.operationOfString(rule, reader.text(row) ?? '') : 0;
}

/** A span in addition to that of the model call: the usage, or the answer to a stream, is on the other one. */
function isFrame(view: RecordView, operation: number): boolean {
  const { fields, lookups, dialect, place } = view;
  if (operation !== MODEL_CALL_OPERATION || place !== PLACE_BITS.span) return false;
  const { callsHaveUsage = false, callsHaveAnswers = false } = lookups.dialects[dialect] ?? {};
  if (!callsHaveUsage && !callsHaveAnswers) return false;
  if (fields.countOf(INPUT_TOKENS) > 0 || fields.countOf(OUTPUT_TOKENS) > 0) return false;
  return callsHaveUsage || (fields.countOf(OUTPUT_CONTENT) === 0 && !view.hasErrorStatus);
}

/** A tool under a name that only telemetry about AI has, or under any name with the call, its arguments or result. */
function looksLikeToolStep(view: RecordView): boolean {
  const { fields } = view;
  if (hasOwnName(view, TOOL_NAME) || hasOwnName(view, TOOL_CALL_ID)) return true;
  return fields.countOf(TOOL_NAME) > 0 && TOOL_FIELDS.some((field) => fields.countOf(field) > 0);
}

/** A model with usage or output: gateways and early releases report calls like this. */
function looksLikeModelCall(view: RecordView): boolean {
  const { fields } = view;
  return (
    MODEL_FIELDS.some((field) => fields.countOf(field) > 0) &&
    CALL_FIELDS.some((field) => fields.countOf(field) > 0) &&
    !repeatsOthers(view)
  );
}

function repeatsOthers({ lookups, dialect }: RecordView): boolean {
  return lookups.dialects[dialect]?.repeatsWithoutOperation === true;
}

/** Whether an attribute that only telemetry about AI has names the field; a document that may hold it says nothing. */
function hasOwnName(view: RecordView, field: number): boolean {
  const { fields, reader } = view;
  for (let index = 0; index < fields.countOf(field); index++) {
    const rule = fields.ruleAt(field, index);
    const proves = (rule.only === null || rule.own) && rule.general === null && rule.paths === null;
    if (proves && reader.isText(fields.rowAt(field, index))) return true;
  }
  return false;
}
