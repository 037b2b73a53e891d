/**
 * What the answers of the console's reading API are made of. The files of this folder have types only, because the page
 * imports them. Nanoseconds and costs are decimal strings, null means unavailable. Tokens are JSON numbers with all
 * digits: `parseExact` reads them. Fields marked "content" are left out for a reader without the right to content.
 */
import type { Count } from '../../../../pdata/exact-json.ts';

/** The part of the range that an answer does not have. */
export interface PartOfRange {
  readonly complete_from?: CompleteFrom;
  /** Why what is earlier, or a part of it, was not read. */
  readonly unread?: string;
}

/** Earlier records of the range are archived, or in objects, and not in the answer. Left out: it is complete. */
export type CompleteFrom = Nanoseconds;

/** An integer of 64 bits as a decimal string. */
export type Nanoseconds = string;

/** US dollars as a decimal string with 8 digits after the point. */
export type Cost = string;

/** A page of a bounded search. */
export interface Page<Item> extends PartOfRange {
  readonly items: readonly Item[];
  /** The cursor that continues the search; null at the end of the range. */
  readonly next: string | null;
  /** The number of traces or records that were read for this answer. */
  readonly examined: number;
  /** The time down to which the search has read; null when there was nothing to read. */
  readonly reached: Nanoseconds | null;
  /** Whether the search can be continued. With fewer items than the limit, the time for one answer was used up. */
  readonly more: boolean;
}

/** Sums over model calls, each counted once. */
export interface UsageSums {
  readonly call_count: number;
  readonly input_tokens: Count | null;
  readonly output_tokens: Count | null;
  readonly cache_read_tokens: Count | null;
  readonly cache_write_tokens: Count | null;
  readonly reasoning_tokens: Count | null;
  readonly total_cost: Cost | null;
  /** Calls without a known cost. */
  readonly unpriced_count: number;
}
