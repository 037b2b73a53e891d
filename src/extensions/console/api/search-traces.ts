/**
 * The bounded search for traces. It reads slices of the newest traces until it has found enough, the range ends, or the
 * time for one answer is used up. The next search continues after the last slice.
 */
import { LATEST_NS } from '../../../component/moment.ts';
import { DAY_NS } from '../../../pdata/time-units.ts';
import { hasSpan, LOGS_SINCE } from '../filter/trace-spans.ts';
import type { RequestReader } from '../server/route.ts';
import type { Conditions } from '../filter/compile.ts';
import { sumsWithin, withUsage } from '../filter/fields.ts';
import { Parameters, statementOf } from '../filter/parameters.ts';
import { withNamedTraces } from './conversation-traces.ts';
import { allOf, ENOUGH_MS, type Range } from './question.ts';
import { readTraceRows, sumsOfUsage } from './trace-rows.ts';

/** A slice is made as large as this time allows. */
const SLICE_MS = 400;
const FIRST_SLICE = 1000;
const SMALLEST_SLICE = 50;
const LARGEST_SLICE = 5000;
/** With conditions on content or on sums. */
const FIRST_HEAVY_SLICE = 100;
const LARGEST_HEAVY_SLICE = 500;
/** In a range of this length the partitions of spans are few. */
const SHORT_NS = 31n * DAY_NS;

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
}

export interface FoundTraces {
  /** JSON texts. */
  readonly items: readonly string[];
  /** Null: the range is at its end. */
  readonly next: TracePosition | null;
  readonly examined: number;
  readonly reached: string | null;
}

export async function searchTraces(reader: RequestReader, asked: TraceSearch): Promise<FoundTraces> {
  const { range, limit } = asked;
  // A copy: the caller may search again, for the next page.
  const parameters = new Parameters([...asked.parameters.values]);
  const conditions = await withNamedTraces(reader, asked.project, asked.conditions, parameters);
  const search = { ...asked, conditions, parameters };
  const isFiltered = conditions.row.length > 0 || conditions.sums.length > 0;
  const largest = conditions.isHeavy ? LARGEST_HEAVY_SLICE : LARGEST_SLICE;
  let size = conditions.isHeavy ? FIRST_HEAVY_SLICE : FIRST_SLICE;
  let position: TracePosition | null = search.after ?? newestBefore(range.until);
  const ids: Buffer[] = [];
  let examined = 0;
  let reached: string | null = null;
  const start = performance.now();
  for (
    let elapsed = 0;
    position !== null && ids.length < limit && elapsed < ENOUGH_MS;
    elapsed = performance.now() - start
  ) {
    const wanted = limit - ids.length;
    const began = performance.now();
    const slice: Slice = await readSlice(reader, search, { position, size: isFiltered ? size : wanted, wanted });
    ids.push(...slice.ids);
    examined += slice.examined;
    reached = slice.last?.ns ?? reached;
    position = slice.isEnd ? null : slice.last;
    const rate = SLICE_MS / Math.max(1, performance.now() - began);
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
  const { conditions, project, range } = search;
  const { values } = search.parameters;
  const own = [project, String(range.from), position.ns, Buffer.from(position.id, 'hex'), size];
  const [first, last, since] = await timesOfRecords(reader, search, own);
  const text = sliceStatement(conditions, placesAfter(values), reader.views);
  const statement = statementOf(text, [...values, ...own, wanted, first, last, since]);
  const [row] = await reader.query(statement.text, statement.values);
  const examined = Number(row?.['examined'] ?? 0);
  const ids = (row?.['ids'] ?? []) as readonly Buffer[];
  const isFull = ids.length === wanted && row?.['hit_ns'] !== null;
  const end = isFull ? positionOf(row?.['hit_ns'], row?.['hit_id']) : positionOf(row?.['last_ns'], row?.['last_id']);
  const passed = isFull ? Number(row?.['passed'] ?? examined) : examined;
  return { ids, examined: passed, last: end, isEnd: end === null || (examined < size && passed === examined) };
}

/** The parameters after those of the conditions, whose values come first. */
const placesAfter =
  (values: readonly unknown[]) =>
  (at: number): string =>
    `$${values.length + at}`;

const positionOf = (ns: unknown, id: unknown): TracePosition | null =>
  ns === null || ns === undefined ? null : { ns: String(ns), id: String(id) };

/**
 * The first and last time that the spans of a slice may have, and since when its log records arrived. In a long range
 * they are those of its traces, so that only their partitions are planned.
 */
async function timesOfRecords(
  reader: RequestReader,
  { conditions, range, parameters }: TraceSearch,
  own: readonly unknown[],
): Promise<readonly [first: unknown, last: unknown, since?: unknown]> {
  const isFiltered = conditions.row.length > 0 || conditions.sums.length > 0;
  const readsLogs = conditions.implied.length > 0;
  if (!isFiltered || (range.until - range.from <= SHORT_NS && !readsLogs))
    return [String(range.from), String(LATEST_NS)];
  const slice = newest(conditions, placesAfter(parameters.values));
  const text = `SELECT min(first_ns) AS first, max(last_ns) AS last, min(${LOGS_SINCE})::text AS since FROM (${slice}) t`;
  const statement = statementOf(text, [...parameters.values, ...own]);
  const [row] = await reader.query(statement.text, statement.values);
  return [row?.['first'], row?.['last'], row?.['since']];
}

/** The newest traces before the position that meet the conditions on their own row. */
const newest = ({ trace }: Conditions, place: (at: number) => string): string => `
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, t.created_at FROM sluice.traces t
    WHERE t.project = ${place(1)}::text AND t.first_ns >= ${place(2)}::int8
      AND (t.first_ns, t.trace_id) < (${place(3)}::int8, ${place(4)}::bytea) AND ${allOf(trace)}
    ORDER BY t.first_ns DESC, t.trace_id DESC LIMIT ${place(5)}::int4`;

/**
 * `place` gives the parameter of project, lowest time, time and id of the position, size of the slice, limit, first and
 * last time of spans, and lowest arrival of log records. OFFSET 0 keeps the order of the slice, so that the search ends
 * with the last trace that is wanted.
 */
function sliceStatement(conditions: Conditions, place: (at: number) => string, views: string): string {
  const { row, sums, implied } = conditions;
  const within = `BETWEEN ${place(7)}::int8 AND ${place(8)}::int8`;
  const some = row.length === 0 ? [] : [hasSpan(allOf(row), within)];
  return `
  WITH slice AS MATERIALIZED (${newest(conditions, place)}
  ), ${sumsOfUsage(views, `${place(1)}::text`, 'slice')}, hits AS MATERIALIZED (
    SELECT t.* FROM (SELECT * FROM slice ORDER BY first_ns DESC, trace_id DESC OFFSET 0) t
    WHERE ${allOf([...some, ...withUsage(sumsWithin([...implied, ...sums], within, `${place(9)}::timestamptz`), views, 'usage_sums')])} LIMIT ${place(6)}::int4
  ), last_hit AS (SELECT * FROM hits ORDER BY first_ns, trace_id LIMIT 1),
  last_seen AS (SELECT * FROM slice ORDER BY first_ns, trace_id LIMIT 1)
  SELECT (SELECT count(*) FROM slice)::int4 AS examined,
    (SELECT count(*) FROM slice, last_hit h WHERE (slice.first_ns, slice.trace_id) >= (h.first_ns, h.trace_id))::int4 AS passed,
    (SELECT first_ns FROM last_seen) AS last_ns, (SELECT encode(trace_id, 'hex') FROM last_seen) AS last_id,
    (SELECT first_ns FROM last_hit) AS hit_ns, (SELECT encode(trace_id, 'hex') FROM last_hit) AS hit_id,
    ARRAY(SELECT trace_id FROM hits ORDER BY first_ns DESC, trace_id DESC) AS ids`;
}
