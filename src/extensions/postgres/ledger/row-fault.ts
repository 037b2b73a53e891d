/** A fault of the values of a request. */
import { meaningOf, sqlstateOf } from '../sqlstate.ts';

/**
 * The server refuses values that a request brought. What fails elsewhere in a round is not the fault of its requests.
 */
export class RowFault extends Error {
  readonly code: string | null;

  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.code = sqlstateOf(error);
  }
}

export const asRowFault = (error: unknown): unknown => (meaningOf(error) === 'data' ? new RowFault(error) : error);
