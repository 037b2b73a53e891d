/**
 * The bounded search for traces. It reads slices of the newest traces until it has found enough, the range ends, or the
 * time for one answer is used up. The next search continues after the last slice.
 */
import { hasSpan } from '../filter/trace-spans.ts';
import type { RequestReader } from '../server/route.ts';
import type { Conditions } from '../filter/compile.ts';
import { withUsage } from '../filter/fields.ts';
import type { Parameters } from '../filter/parameters.ts';
import { allOf, type Range } from './question.ts';
import { readTraceRows, sumsOfUsage } from './trace-rows.ts';

/** The time after which no further slice is begun. */
const ENOUGH_MS = 1500;
/** A slice is made as large as this time allows. */
const SLICE_MS = 400;
const FIRST_SLICE = 1000;
const SMALLEST_SLICE = 50;
const LARGEST_SLICE = 5000;
/** With conditions on content or on sums. */
const FIRST_HEAVY_SLICE = 100;
const LARGEST_HEAVY_SLICE = 500;

/** The position of a trace in the list, which has the newest first. */
export interface TracePosition {
  readonly ns: string;
  readonly id: string;
}

/** Longer than an id, so that it is after all ids of its time. */
const AFTER_ALL_IDS = 'ff'.repeat(17);
/** The position before the newest trace that begins before a time. */
export const newestBefore = (until: bigint): TracePosition => ({ ns: String(until - 1n), id: AFTER_ALL_IDS });

export interface TraceSearch {
  readonly project: string;
  readonly range: Range;
  readonly conditions: Conditions;
  /** The values of the conditions. */
  readonly parameters: Parameters;
  /** Where an earlier search ended; null: at the newest trace of the range. */
  readonly after: TracePosition | null;
  readonly limit: number;
  readonly now: () => number;
}

export interface FoundTraces {
  /** JSON texts. */
  readonly items: readonly string[];
  /** Null: the range is at its end. */
  readonly next: TracePosition | null;
  readonly examined: number;
  readonly reached: string | null;
}

export async function searchTraces(reader: RequestReader, search: TraceSearch): Promise<FoundTraces> {
  const { conditions, range, limit } = search;
  const isFiltered = conditions.row.length > 0 || conditions.sums.length > 0;
  const largest = conditions.isHeavy ? LARGEST_HEAVY_SLICE : LARGEST_SLICE;
  let size = conditions.isHeavy ? FIRST_HEAVY_SLICE : FIRST_SLICE;
  let position: TracePosition | null = search.after ?? newestBefore(range.until);
  const ids: Buffer[] = [];
  let examined = 0;
  let reached: string | null = null;
  const start = search.now();
  for (
    let elapsed = 0;
    position !== null && ids.length < limit && elapsed < ENOUGH_MS;
    elapsed = search.now() - start
  ) {
    const wanted = limit - ids.length;
    const began = search.now();
    const slice: Slice = await readSlice(reader, search, { position, size: isFiltered ? size : wanted, wanted });
    ids.push(...slice.ids);
    examined += slice.examined;
    reached = slice.last?.ns ?? reached;
    position = slice.isEnd ? null : slice.last;
    const rate = SLICE_MS / Math.max(1, search.now() - began);
    size = Math.round(Math.min(largest, Math.max(SMALLEST_SLICE, size * Math.min(rate, 4))));
  }
  const items = await readTraceRows(reader, search.project, ids);
  return { items, next: position, examined, reached };
}

interface SliceBounds {
  readonly position: TracePosition;
  /** How many traces are read. */
  readonly size: number;
  /** How many may be found. */
  readonly wanted: number;
}

interface Slice {
  readonly ids: readonly Buffer[];
  readonly examined: number;
  /** The last trace that was read; null: none was left. */
  readonly last: TracePosition | null;
  readonly isEnd: boolean;
}

async function readSlice(
  reader: RequestReader,
  search: TraceSearch,
  { position, size, wanted }: SliceBounds,
): Promise<Slice> {
  const { values } = search.parameters;
  const place = (at: number): string => `$${values.length + at}`;
  const { conditions } = search;
  const text = sliceStatement(conditions, place, reader.views);
  const own = [search.project, String(search.range.from), position.ns, Buffer.from(position.id, 'hex'), size, wanted];
  const [row] = await reader.query(text, [...values, ...own]);
  const examined = Number(row?.['examined'] ?? 0);
  const ids = (row?.['ids'] ?? []) as readonly Buffer[];
  const isFull = ids.length === wanted && row?.['hit_ns'] !== null;
  const last = isFull ? positionOf(row?.['hit_ns'], row?.['hit_id']) : positionOf(row?.['last_ns'], row?.['last_id']);
  const passed = isFull ? Number(row?.['passed'] ?? examined) : examined;
  return { ids, examined: passed, last, isEnd: last === null || (examined < size && passed === examined) };
}

const positionOf = (ns: unknown, id: unknown): TracePosition | null =>
  ns === null || ns === undefined ? null : { ns: String(ns), id: String(id) };

/**
 * `place` gives the parameter of project, lowest time, time and id of the position, size of the slice, and limit.
 * OFFSET 0 keeps the order of the slice, so that the search ends with the last trace that is wanted.
 */
function sliceStatement({ trace, row, sums }: Conditions, place: (at: number) => string, views: string): string {
  const some = row.length === 0 ? [] : [hasSpan(allOf(row), `>= ${place(2)}::int8`)];
  return `
  WITH slice AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
    WHERE t.project = ${place(1)}::text AND t.first_ns >= ${place(2)}::int8
      AND (t.first_ns, t.trace_id) < (${place(3)}::int8, ${place(4)}::bytea) AND ${allOf(trace)}
    ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${place(5)}::int4
  ), ${sumsOfUsage(views, `${place(1)}::text`, 'slice')}, hits AS MATERIALIZED (
    SELECT t.* FROM (SELECT * FROM slice ORDER BY first_ns DESC, trace_id DESC OFFSET 0) t
    WHERE ${allOf([...some, ...withUsage(sums, views, 'usage_sums')])} LIMIT ${place(6)}::int4
  ), last_hit AS (SELECT * FROM hits ORDER BY first_ns, trace_id LIMIT 1),
  last_seen AS (SELECT * FROM slice ORDER BY first_ns, trace_id LIMIT 1)
  SELECT (SELECT count(*) FROM slice)::int4 AS examined,
    (SELECT count(*) FROM slice, last_hit h WHERE (slice.first_ns, slice.trace_id) >= (h.first_ns, h.trace_id))::int4 AS passed,
    (SELECT first_ns FROM last_seen) AS last_ns, (SELECT encode(trace_id, 'hex') FROM last_seen) AS last_id,
    (SELECT first_ns FROM last_hit) AS hit_ns, (SELECT encode(trace_id, 'hex') FROM last_hit) AS hit_id,
    ARRAY(SELECT trace_id FROM hits ORDER BY first_ns DESC, trace_id DESC) AS ids`;
}
