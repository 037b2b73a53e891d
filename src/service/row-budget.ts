/**
 * What encoded rows may take. Rows of one request are bounded by a multiple of its body, because a row repeats its resource and
 * escapes its texts: without the bound 24 KiB of gzip become 700 MiB. Rows of all requests together are bounded by a budget,
 * shared fairly among projects, which is asked before rows are kept.
 */
import { FairBudget } from '../component/fair-budget.ts';
import { Rejection } from '../errors.ts';
import type { Batch } from '../pdata/batch.ts';
import type { RowRoom } from '../pdata/row-room.ts';

/** JSON doubles quotes, backslashes and line breaks, and a text may stand in a derived column too. */
const ROW_BYTES_PER_BODY_BYTE = 4;
/** The names of all columns in a line of NDJSON take 2 KiB; the rest is for a resource and a scope of 6 KiB. */
const ROW_BYTES_PER_RECORD = 8192;
/** Events, links and exemplars are JSON objects with names of their own and ids in hex. */
const ROW_BYTES_PER_ELEMENT = 256;
/** The rows of one request in one form. Well below the budget, so that a request with nobody beside it always finds room. */
const MAX_REQUEST_ROW_BYTES = 136 * 1048576;
/** The rows of all requests that wait or are being written. */
const MAX_ROW_BYTES = 168 * 1048576;

export interface RowBudgetOptions {
  readonly maxBytes?: number;
  readonly maxRequestBytes?: number;
}

export class RowBudget {
  readonly #budget: FairBudget;
  readonly #maxRequestBytes: number;

  constructor({ maxBytes = MAX_ROW_BYTES, maxRequestBytes = MAX_REQUEST_ROW_BYTES }: RowBudgetOptions = {}) {
    this.#budget = new FairBudget({ limitBytes: maxBytes, what: 'rows waiting for the commit' });
    this.#maxRequestBytes = maxRequestBytes;
  }

  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /** Room for the rows of one request in one exporter's form. */
  open(batch: Batch, bodyBytes: number): RequestRows {
    const bound =
      bodyBytes * ROW_BYTES_PER_BODY_BYTE +
      (batch.recordCount + batch.metricCount) * ROW_BYTES_PER_RECORD +
      (batch.eventCount + batch.linkCount) * ROW_BYTES_PER_ELEMENT;
    return new RequestRows(this.#budget, batch.context.project.name, Math.min(bound, this.#maxRequestBytes));
  }
}

/** What the rows of one request hold of the budget. `close` gives all of it back and may be called twice. */
export class RequestRows implements RowRoom {
  readonly #budget: FairBudget;
  readonly #project: string;
  readonly #limitBytes: number;
  #bytes = 0;

  constructor(budget: FairBudget, project: string, limitBytes: number) {
    this.#budget = budget;
    this.#project = project;
    this.#limitBytes = limitBytes;
  }

  get left(): number {
    return this.#limitBytes - this.#bytes;
  }

  /** Throws `body_too_large` beyond what the body may become, and `overloaded` when there is no room beside the rows of others. */
  reserve(bytes: number): void {
    if (bytes > this.left) throw tooManyRows(this.#limitBytes);
    this.#budget.reserve(this.#project, bytes);
    this.#bytes += bytes;
  }

  /** Counts the rows of an exporter that did not ask. Throws like `reserve`. */
  cover(bytes: number): void {
    if (bytes > this.#bytes) this.reserve(bytes - this.#bytes);
  }

  close(): void {
    this.#budget.release(this.#project, this.#bytes);
    this.#bytes = 0;
  }
}

const tooManyRows = (limitBytes: number): Rejection =>
  new Rejection('body_too_large', {
    hint: 'the rows of the request would be too large beside its body: each record repeats its resource',
    limit_bytes: limitBytes,
  });
