/** A fault of the values of a request. */
import { meaningOf, sqlstateOf } from '../sqlstate.ts';

/** The server refuses values of a request. Other failures of a round are not caused by its requests. */
export class RowFault extends Error {
  readonly code: string | null;

  constructor(error: unknown) {
    super(error instanceof Error ? error.message : String(error), { cause: error });
    this.code = sqlstateOf(error);
  }
}

export const asRowFault = (error: unknown): unknown => (meaningOf(error) === 'data' ? new RowFault(error) : error);
