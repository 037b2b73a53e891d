/**
 * What PostgreSQL may not have of an answer: earlier days may be archived, and records may be in objects only. Then a
 * process that reads them gives the whole answer, or the answer says from which time on it is complete.
 */
import { dayOfNs, MAY_MISS, WAITING_PARTS } from '../../../component/archived-day.ts';
import { LATEST_NS, withinStorable } from '../../../component/moment.ts';
import { ConsoleError, type ConsoleErrorCode } from '../errors.ts';
import type { ArchivedDays, Reply, RequestContext } from '../server/route.ts';
import { type Range, wordOf } from './question.ts';
import { DAY_NS, MS_NS } from '../../../pdata/time-units.ts';

/** Clocks may be ahead. */
const AHEAD_NS = DAY_NS;
/** How far back archived days are read for a request without a range. */
const RECENT_NS = 7n * DAY_NS;
/** After these errors PostgreSQL answers alone, unless the request asks for archived days. */
const UNREADABLE: ReadonlySet<ConsoleErrorCode> = new Set(['archive_unavailable', 'busy', 'took_too_long']);

/**
 * The end of the newest archived day of the range from `$2` to `$3` of which PostgreSQL may not have all records, or
 * the arrival of the newest request that it does not have. `$4`: the tables.
 */
const NEWEST = `
  SELECT max(ns)::text AS ns FROM (
    (SELECT (j.day + 1 - date '1970-01-01')::int8 * ${DAY_NS} AS ns FROM sluice.lake_jobs j
    WHERE j.state = 'published' AND j.signal = ANY ($4::text[]) AND $1::text = ANY (j.projects)
      AND j.day >= ${dayOfNs('$2::int8')} AND (j.day <= ${dayOfNs('$3::int8')} OR j.min_ns <= $3::int8) AND ${MAY_MISS}
    ORDER BY j.day DESC LIMIT 1)
    UNION ALL SELECT (extract(epoch FROM max(p.received_at)) * 1000000)::int8 * 1000 FROM ${WAITING_PARTS} p
    WHERE p.signal = ANY ($4::text[]) AND p.project = $1::text AND (p.first_ns IS NULL OR p.first_ns <= $3::int8)
      AND p.received_at >= 'epoch'::timestamptz + $2::int8 / 1000 * interval '1 microsecond') n`;

/**
 * As `NEWEST`, for records outside the range from `$2` to `$3`. A file of spans has the spans of its day, a file of log
 * records those that arrived on its day.
 */
const NEWEST_OUTSIDE = `
  SELECT max(ns)::text AS ns FROM (
    (SELECT (j.day + 1 - date '1970-01-01')::int8 * ${DAY_NS} AS ns FROM sluice.lake_jobs j
    WHERE j.state = 'published' AND j.signal IN ('spans', 'logs') AND $1::text = ANY (j.projects)
      AND CASE WHEN j.signal = 'spans' THEN j.day < ${dayOfNs('$2::int8')} OR j.day > ${dayOfNs('$3::int8')}
        ELSE coalesce(j.max_ns < $2::int8 OR j.min_ns >= $3::int8, true) END AND ${MAY_MISS}
    ORDER BY j.day DESC LIMIT 1)
    UNION ALL SELECT (extract(epoch FROM max(p.received_at)) * 1000000)::int8 * 1000 FROM ${WAITING_PARTS} p
    WHERE p.signal IN ('spans', 'logs') AND p.project = $1::text AND (p.last_ns < $2::int8 OR p.first_ns > $3::int8)) n`;

/** Members of an answer. Empty when it is complete. */
export interface Completeness {
  readonly complete_from?: string;
  /** Why earlier records, or some of them, are not read. */
  readonly unread?: string;
}

export interface Reach {
  /** The answer of the process that reads archived days; null: PostgreSQL answers. */
  readonly reply: Reply | null;
  readonly completeness: Completeness;
}

/** What a request reads. */
export interface Reading extends Range, Pick<ArchivedDays, 'of' | 'isDetailed' | 'conversation'> {
  /** Whether PostgreSQL, which has all from this time on, has enough for the answer. */
  isEnough?(completeFrom: bigint): boolean;
}

/** The parameter `archived` decides. Without it, archived days are read when they are needed and can be read. */
export async function reachOf(context: RequestContext, reading: Reading): Promise<Reach> {
  const asked = wordOf(context, 'archived', ['auto', 'true', 'false']);
  return askedReach(context, reading, asked);
}

/**
 * For the APIs of Tempo and Jaeger. Their answers cannot say what is missing, so archived days that are needed must be
 * read.
 */
export const neededReach = (context: RequestContext, reading: Reading): Promise<Reach> =>
  askedReach(context, reading, 'needed');

async function askedReach(
  context: RequestContext,
  reading: Reading,
  asked: 'auto' | 'true' | 'false' | 'needed',
): Promise<Reach> {
  const completeness = await completenessOf(context, reading);
  const { complete_from: from } = completeness;
  if (from === undefined || asked === 'false' || context.archivedFrom !== null) return { reply: null, completeness };
  if (asked !== 'true' && reading.isEnough?.(BigInt(from)) === true) return { reply: null, completeness };
  try {
    return { reply: await context.archivedDays(daysOf(context, reading)), completeness };
  } catch (error) {
    if (asked !== 'auto' || !(error instanceof ConsoleError) || !UNREADABLE.has(error.code)) throw error;
    return { reply: null, completeness: { ...completeness, unread: error.message } };
  }
}

async function completenessOf(context: RequestContext, reading: Reading): Promise<Completeness> {
  const { project, reader, archivedFrom, leftOut } = context;
  const { of, from, until } = rangeOf(context, reading);
  if (archivedFrom !== null) {
    const isCut = leftOut !== null && leftOut.untilNs > from;
    const completeFrom = isCut && leftOut.untilNs > archivedFrom ? leftOut.untilNs : archivedFrom;
    return completeFrom > from
      ? { complete_from: String(completeFrom), ...(isCut ? { unread: leftOut.why } : {}) }
      : {};
  }
  const signals = of === 'metrics' ? ['metric_points'] : ['spans', 'logs'];
  const [row] = await reader.prepared(NEWEST, [project, String(from), String(until), signals]);
  const ns = row?.['ns'] ?? null;
  return ns === null ? {} : { complete_from: String(ns) };
}

/**
 * For rows that count records of all days: also what was not read outside the range. Archived days were read from a day
 * before the range to a day after it, or not at all.
 */
export async function withOtherDays(
  { project, reader, archivedFrom }: RequestContext,
  { until }: Range,
  completeness: Completeness,
): Promise<Completeness> {
  const lastDay = until - 1n - ((until - 1n) % DAY_NS);
  const bounds = archivedFrom === null ? [LATEST_NS, 0n] : [archivedFrom - DAY_NS, lastDay + 2n * DAY_NS];
  const [first, last] = bounds.map((ns) => String(withinStorable(ns)));
  const [row] = await reader.prepared(NEWEST_OUTSIDE, [project, first, last]);
  const [own, other] = [completeness.complete_from ?? null, (row?.['ns'] ?? null) as string | null];
  if (other === null || (own !== null && BigInt(own) >= BigInt(other))) return completeness;
  return { ...completeness, complete_from: other };
}

/** A request without pages and without a beginning is for recent days. */
function rangeOf({ now }: RequestContext, { of, from, until, isEnough }: Reading) {
  const nowNs = BigInt(now()) * MS_NS;
  const first = from <= 0n && isEnough === undefined ? nowNs - RECENT_NS : from;
  return { of, from: first < 0n ? 0n : first, until: until > LATEST_NS ? LATEST_NS : until };
}

/** All ranges up to now get the same end, so that one process answers their requests. */
function daysOf(context: RequestContext, reading: Reading): ArchivedDays {
  const { of, from, until } = rangeOf(context, reading);
  const { isDetailed, conversation } = reading;
  const nowNs = BigInt(context.now()) * MS_NS;
  const { project } = context;
  const named = conversation === undefined ? {} : { conversation };
  return { of, project, from, until: until < nowNs ? until : nowNs + AHEAD_NS, isDetailed, ...named };
}

/** Traces before the archived days that were read may have only a part of their records. */
export const wholeFrom = ({ archivedFrom }: RequestContext, { from, until }: Range): Range => ({
  from: archivedFrom !== null && archivedFrom > from ? archivedFrom : from,
  until,
});

/** Whether conditions may need content. */
export const hasFilter = ({ query }: RequestContext): boolean => (query.get('q') ?? '') !== '';

/** The text of a JSON object with further members. */
export function withCompleteness(text: string, completeness: Completeness): string {
  const members = JSON.stringify(completeness).slice(1);
  return members === '}' ? text : `${text.trimEnd().slice(0, -1)},${members}`;
}
