/** Whether a step failed, and its kind of error. */
import { DERIVED_IS_ERROR, KIND_INT, SLOT_ERROR_TYPE } from '../../pdata/layout.ts';
import type { RecordView } from './record-view.ts';
import { fieldNumber } from './rules.ts';
import { setNameRow } from './slots.ts';

const ERROR_TYPE = fieldNumber('error_type');
const FAILED = fieldNumber('failed');
const IS_FALSE = 1;
const IS_TRUE = 2;
const FAILURE_WORDS: ReadonlySet<string> = new Set(['error', 'failed', 'failure']);
/** The only attribute of `failed` whose `true` means success. */
const SUCCESS = 'success';

/**
 * Fills `is_error` and `error_type`. `exception` is the row of an exception event's type, or -1. With `isProof` the
 * exception has ended the step.
 */
export function fillFailure(view: RecordView, exception: number, isProof: boolean): void {
  const { derived, hasErrorStatus: status } = view;
  const typed = fillErrorType(view) || (fillException(view, exception) && isProof);
  const judged = status || view.operation !== 0 || view.dialect >= 0;
  if (judged) derived.setByte(DERIVED_IS_ERROR, status || typed || saysFailed(view) ? IS_TRUE : IS_FALSE);
}

function fillErrorType(view: RecordView): boolean {
  const { fields, reader } = view;
  for (let index = 0; index < fields.countOf(ERROR_TYPE); index++) {
    const row = fields.rowAt(ERROR_TYPE, index);
    if (reader.isText(row) || reader.at(row).kind === KIND_INT) {
      setNameRow(view, SLOT_ERROR_TYPE, row);
      return true;
    }
  }
  return false;
}

/** A recorded exception gives the kind of error. Alone it proves no failure: the exception may have been caught. */
function fillException(view: RecordView, row: number): boolean {
  if (row < 0 || !view.reader.isText(row)) return false;
  setNameRow(view, SLOT_ERROR_TYPE, row);
  return true;
}

function saysFailed(view: RecordView): boolean {
  const { fields, reader } = view;
  for (let index = 0; index < fields.countOf(FAILED); index++) {
    const row = fields.rowAt(FAILED, index);
    const truth = reader.truth(row);
    if (truth !== null && truth === (fields.ruleAt(FAILED, index).attribute !== SUCCESS)) return true;
    if (truth === null && FAILURE_WORDS.has(reader.shortText(row).toLowerCase())) return true;
  }
  return false;
}
