/**
 * The bounded search for traces. It reads slices of the newest traces until it has found enough, the range ends, or the
 * time for one answer is used up. The next search continues after the last slice.
 */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { hasSpan } from '../filter/trace-spans.ts';
import type { RequestReader } from '../server/route.ts';
import type { Conditions } from '../filter/compile.ts';
import { sumsWithin, withUsage } from '../filter/fields.ts';
import { type Parameters, statementOf } from '../filter/parameters.ts';
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
  { project, range, conditions, parameters }: TraceSearch,
  { position, size, wanted }: SliceBounds,
): Promise<Slice> {
  const own = [project, String(range.from), position.ns, Buffer.from(position.id, 'hex'), size];
  const newest = sliceStatement(conditions, parameters.values, own);
  const [slice] = await reader.query(newest.text, newest.values);
  const ids = (slice?.['ids'] ?? []) as readonly Buffer[];
  const starts = (slice?.['starts'] ?? []) as readonly unknown[];
  let places: readonly number[] = ids.map((_, at) => at);
  if (ids.length > 0 && (conditions.row.length > 0 || conditions.sums.length > 0)) {
    const matching = [project, ids, slice?.['first'], slice?.['last'], wanted];
    const hits = hitsStatement(conditions, parameters.values, matching, reader.views);
    const [found] = await reader.query(hits.text, hits.values);
    places = found?.['places'] as readonly number[];
  }
  const last = places.length === wanted ? (places.at(-1) ?? 0) : ids.length - 1;
  return {
    ids: places.flatMap((at) => ids[at] ?? []),
    examined: last + 1,
    last: last < 0 ? null : { ns: String(starts[last]), id: ids[last]?.toString('hex') ?? '' },
    isEnd: last < 0 || (ids.length < size && last === ids.length - 1),
  };
}

/** The newest traces before a position, and their outermost times. `own`: its values, after those of the conditions. */
function sliceStatement({ trace }: Conditions, values: readonly unknown[], own: readonly unknown[]): Statement {
  const place = (at: number): string => `$${values.length + at}`;
  const text = `
  SELECT array_agg(trace_id ORDER BY first_ns DESC, trace_id DESC) AS ids, array_agg(first_ns ORDER BY first_ns DESC, trace_id DESC) AS starts,
    min(first_ns) AS first, max(last_ns) AS last
  FROM (
    SELECT t.trace_id, t.first_ns, t.last_ns FROM sluice.traces t
    WHERE t.project = ${place(1)}::text AND t.first_ns >= ${place(2)}::int8
      AND (t.first_ns, t.trace_id) < (${place(3)}::int8, ${place(4)}::bytea) AND ${allOf(trace)}
    ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${place(5)}::int4
  ) newest`;
  return statementOf(text, [...values, ...own]);
}

/**
 * Which traces of a slice are found, at most as many as are wanted. Only the partitions of the times of the slice are
 * planned. OFFSET 0 keeps its order, so that the search ends with the last trace that is wanted.
 */
function hitsStatement(
  { row, sums }: Conditions,
  values: readonly unknown[],
  own: readonly unknown[],
  views: string,
): Statement {
  const place = (at: number): string => `$${values.length + at}`;
  const within = `BETWEEN ${place(3)}::int8 AND ${place(4)}::int8`;
  const some = row.length === 0 ? [] : [hasSpan(allOf(row), within)];
  const text = `
  WITH slice AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, o.number::int4 - 1 AS place
    FROM unnest(${place(2)}::bytea[]) WITH ORDINALITY o (id, number) JOIN sluice.traces t ON t.trace_id = o.id AND t.project = ${place(1)}::text
  ), ${sumsOfUsage(views, `${place(1)}::text`, 'slice')}, hits AS MATERIALIZED (
    SELECT t.place FROM (SELECT * FROM slice ORDER BY place OFFSET 0) t
    WHERE ${allOf([...some, ...withUsage(sumsWithin(sums, within), views, 'usage_sums')])} LIMIT ${place(5)}::int4
  )
  SELECT ARRAY(SELECT place FROM hits ORDER BY place) AS places`;
  return statementOf(text, [...values, ...own]);
}
