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
const TOOL_FIELDS = [fieldNumber('tool_call_id'), fieldNumber('tool_arguments'), fieldNumber('tool_result')];
const INPUT_TOKENS = fieldNumber('input_tokens');
const OUTPUT_TOKENS = fieldNumber('output_tokens');
const FRAME_OPERATION = operationNumber('workflow');
const CALL_FIELDS = [OUTPUT_TOKENS, fieldNumber('output_content'), INPUT_TOKENS, fieldNumber('finish_reason')];

/** Finds the operation and sets it on the view. Returns the row of an unknown operation name, or -1. */
export function findOperation(view: RecordView, name: string | null): number {
  const { lookups, fields, reader, dialect } = view;
  const names = view.place === PLACE_BITS.log ? lookups.events[dialect] : lookups.spanNames[dialect];
  const named = name === null ? undefined : names?.find(name);
  if (named !== undefined) {
    view.setOperation(named);
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
  if (ownWord < 0 && looksLikeModelCall(view)) view.setOperation(MODEL_CALL_OPERATION);
  else if (ownWord < 0 && looksLikeToolStep(view)) view.setOperation(TOOL_OPERATION);
  return ownWord;
}

function operationAt(view: RecordView, rule: Rule, row: number): number {
  const { lookups, reader } = view;
  const { attribute } = rule;
  const part = rule.paths === null ? null : reader.part(rule, row);
  if (part !== null) return lookups.operationOfString(attribute, part);
  if (attribute === 'operation.name') {
    return lookups.operationOfString(attribute, (reader.text(row) ?? '').split(' ', 1)[0] ?? '');
  }
  const found = lookups.operationOfWord(rule, reader.word(lookups.words, row));
  if (found !== 0 || !lookups.hasOpenWords(rule)) return found;
  return reader.at(row).kind === KIND_TEXT ? lookups.operationOfString(attribute, reader.text(row) ?? '') : 0;
}

/** The outer of two spans for one model call: the usage is on the inner one. */
function isFrame({ fields, lookups, dialect }: RecordView, operation: number): boolean {
  return (
    operation === MODEL_CALL_OPERATION &&
    lookups.dialects[dialect]?.callsHaveUsage === true &&
    fields.countOf(INPUT_TOKENS) === 0 &&
    fields.countOf(OUTPUT_TOKENS) === 0
  );
}

/** A span with a tool and its arguments or result, and without a model. */
function looksLikeToolStep({ fields, place }: RecordView): boolean {
  if (place !== PLACE_BITS.span || MODEL_FIELDS.some((field) => fields.countOf(field) > 0)) return false;
  return fields.countOf(TOOL_NAME) > 0 && TOOL_FIELDS.some((field) => fields.countOf(field) > 0);
}

/** A model with usage or output, without an operation: gateways and early releases report calls like this. */
function looksLikeModelCall({ fields, lookups, dialect }: RecordView): boolean {
  if (lookups.dialects[dialect]?.repeatsWithoutOperation === true) return false;
  return (
    MODEL_FIELDS.some((field) => fields.countOf(field) > 0) && CALL_FIELDS.some((field) => fields.countOf(field) > 0)
  );
}
