/**
 * Limits the memory of encoded rows. The rows of one request are limited by a multiple of its body, because a line of
 * NDJSON repeats its resource and escapes texts: without the limit 24 KiB of gzip become 700 MiB. The rows of all
 * requests are limited by a budget that projects share fairly; bytes are reserved before rows are kept. While a project
 * has no room even for the smallest of its recent requests, its next ones are refused before they are read, and passes
 * of those that were read wait: each would otherwise cost a pass while a store is slow.
 */
import { FairBudget } from '../component/fair-budget.ts';
import { Rejection } from '../errors.ts';
import type { Batch } from '../pdata/batch.ts';
import type { RowRoom } from '../pdata/row-room.ts';

/** JSON doubles quotes, backslashes and line breaks, and a derived column may repeat a text. */
const ROW_BYTES_PER_BODY_BYTE = 4;
/** The column names in a line of NDJSON take 2 KiB. The rest is for a resource and a scope of 6 KiB. */
const ROW_BYTES_PER_RECORD = 8192;
/** Events, links and exemplars are JSON objects with member names and hex ids. */
const ROW_BYTES_PER_ELEMENT = 256;
/**
 * The limit beside a body of any content. An ordinary span of 150 bytes with a resource of 6 KiB makes a line of 55
 * times its size; an empty log record takes 2 bytes of a body and makes a line of hundreds.
 */
export const MAX_ROW_FACTOR = 128;
/** Below this size the factor does not apply. */
const LEAST_LIMIT_BYTES = 1048576;
/** The limit for the rows of one request in all formats. Below the budget: a single request always finds room. */
const MAX_REQUEST_ROW_BYTES = 128 * 1048576;
/** The limit for the rows of all requests that wait or are being written. */
const MAX_ROW_BYTES = 152 * 1048576;

/** With each larger request, the smallest recent one counts as larger by this factor. */
const SMALLEST_GROWTH = 1.05;
/** The weight of a request relative to the request after it, in the sums of bytes. */
const DECAY = 0.97;
/** The limit of projects whose recent requests are remembered. */
const MAX_PROJECTS = 1024;
/** After so long without a request whose rows were encoded, one is admitted: the next may be smaller than the last. */
const TRY_AFTER_MS = 1000;
/** A pass waits for at most this part of the budget. One with more rows is refused when it does not find the rest. */
const HOLD_PART = 8;

export interface RowBudgetOptions {
  readonly maxBytes?: number;
  readonly maxRequestBytes?: number;
  /** Called after rows have been released. */
  released?(): void;
  /** Milliseconds of a monotonic clock. */
  now?(): number;
}

/** What the recent requests of one project had. */
interface Recent {
  /** Row bytes of the smallest. */
  readonly smallest: number;
  /** Weighted sums of row bytes and body bytes; the latest has the highest weight. */
  readonly rowBytes: number;
  readonly bodyBytes: number;
  /** When the rows of the last one were encoded, or one was tried later. */
  readonly atMs: number;
}

/** A project without recent requests is expected to have no rows. */
const NOTHING = { rowBytes: 0, bodyBytes: 1 };

export class RowBudget {
  readonly #budget: FairBudget;
  readonly #maxRequestBytes: number;
  readonly #released: () => void;
  readonly #now: () => number;
  readonly #recent = new Map<string, Recent>();

  constructor({
    maxBytes = MAX_ROW_BYTES,
    maxRequestBytes = MAX_REQUEST_ROW_BYTES,
    released = () => undefined,
    now = () => performance.now(),
  }: RowBudgetOptions = {}) {
    this.#budget = new FairBudget({ limitBytes: maxBytes, what: 'rows waiting for the commit' });
    this.#maxRequestBytes = maxRequestBytes;
    this.#released = released;
    this.#now = now;
  }

  get heldBytes(): number {
    return this.#budget.heldBytes;
  }

  /**
   * Throws `overloaded` when the rows of the smallest recent request of the project would not fit now. One request in a
   * second is tried.
   */
  admit(project: string): void {
    const recent = this.#recent.get(project);
    if (recent === undefined || this.#budget.hasRoom(project, recent.smallest)) return;
    if (this.#now() - recent.atMs < TRY_AFTER_MS) this.#budget.requireRoom(project, recent.smallest);
    this.#recent.set(project, { ...recent, atMs: this.#now() });
  }

  /**
   * Whether the rows of a body would find room now, with the ratio of row bytes to body bytes of the project's recent
   * requests together. The highest ratio is often that of a few hundred bytes, and says nothing about large bodies.
   */
  hasRoom(project: string, bytes: number): boolean {
    // Then the share of every project has room for the largest part that a pass waits for.
    if (this.#budget.heldBytes < this.#budget.limitBytes / 2) return true;
    const { rowBytes, bodyBytes } = this.#recent.get(project) ?? NOTHING;
    const expected = Math.round((bytes * rowBytes) / bodyBytes);
    return this.#budget.hasRoom(project, Math.min(expected, Math.floor(this.#budget.limitBytes / HOLD_PART)));
  }

  /** The budget for the rows of one request in one exporter's format. Those in other formats have `reservedBytes`. */
  open(batch: Batch, bodyBytes: number, reservedBytes = 0): RequestRows {
    const ofContent =
      bodyBytes * ROW_BYTES_PER_BODY_BYTE +
      (batch.recordCount + batch.metricCount) * ROW_BYTES_PER_RECORD +
      (batch.eventCount + batch.linkCount) * ROW_BYTES_PER_ELEMENT;
    const ofBody = Math.max(bodyBytes * MAX_ROW_FACTOR, LEAST_LIMIT_BYTES);
    const limit = Math.min(ofContent, ofBody, this.#maxRequestBytes - reservedBytes);
    const project = batch.context.project.name;
    return new RequestRows(this.#budget, project, limit, this.#released);
  }

  /** A request was encoded: the bytes of its rows in all formats, and of its body. */
  note(project: string, bytes: number, bodyBytes: number): void {
    const recent = this.#recent.get(project);
    if (recent === undefined && this.#recent.size >= MAX_PROJECTS) this.#recent.clear();
    this.#recent.set(project, {
      smallest: Math.min(bytes, Math.ceil(Math.max(recent?.smallest ?? bytes, 1) * SMALLEST_GROWTH)),
      rowBytes: (recent?.rowBytes ?? 0) * DECAY + bytes,
      // The sum is a divisor. Requests without records are refused before, so a body has bytes; the check is cheap.
      bodyBytes: (recent?.bodyBytes ?? 0) * DECAY + Math.max(bodyBytes, 1),
      atMs: this.#now(),
    });
  }
}

/** The reserved bytes of one request's rows. `close` releases all and may be called twice. */
export class RequestRows implements RowRoom {
  readonly #budget: FairBudget;
  readonly #project: string;
  readonly #limitBytes: number;
  readonly #released: () => void;
  #bytes = 0;

  constructor(budget: FairBudget, project: string, limitBytes: number, released: () => void) {
    this.#budget = budget;
    this.#project = project;
    this.#limitBytes = limitBytes;
    this.#released = released;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get left(): number {
    return this.#limitBytes - this.#bytes;
  }

  /** Throws `body_too_large` above the limit of the request, and `overloaded` when the budget has no room. */
  reserve(bytes: number): void {
    if (bytes > this.left) throw tooManyRows(this.#limitBytes);
    this.#budget.reserve(this.#project, bytes);
    this.#bytes += bytes;
  }

  /**
   * All rows are encoded and have so many bytes. Reserves for an exporter that did not reserve while it encoded. Throws
   * like `reserve`.
   */
  cover(bytes: number): void {
    if (bytes > this.#bytes) this.reserve(bytes - this.#bytes);
  }

  close(): void {
    if (this.#bytes === 0) return;
    this.#budget.release(this.#project, this.#bytes);
    this.#bytes = 0;
    this.#released();
  }
}

const tooManyRows = (limitBytes: number): Rejection =>
  new Rejection('body_too_large', {
    hint: 'the rows of the request would be too large beside its body: each record repeats its resource',
    limit_bytes: limitBytes,
  });
