/** `GET …/logs`: log records, newest first; `GET …/traces/{trace}/logs`: those of a trace, in order of time. */
import { logNs, logPlace } from '../../../pdata/log-time.ts';
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { reachOf } from './completeness.ts';
import { isCount, isStoredTime, readCursor, readLogPlace, writeCursor } from './cursor.ts';
import { allOf, conditionsOf, ENOUGH_MS, environmentCondition, idOf, limitOf, rangeOf } from './question.ts';
import { findTrace } from './stored-trace.ts';
import { nameText, textJson } from './texts.ts';
import { linesOf } from './trace-rows.ts';

const DEFAULT_LIMIT = 100;
const HIGHEST_LIMIT = 500;
const SHOWN_CHARACTERS = 16 * 1024;
const SLICE = 5000;
const HEAVY_SLICE = 500;

const TIME = logNs('l');
const FIRST = { ns: '0', passed: '0' };

/** A `LogRow` of a log record `l`. */
const logJson = (seesContent: boolean): string => `json_build_object('time_unix_nano', (${TIME})::text,
    'received_at', to_char(l.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'environment', l.environment,
    'service', ${nameText('l.service_name')}, 'severity_number', l.severity_number, 'severity_text', ${nameText('l.severity_text')},
    'event_name', ${nameText('l.event_name')},
    'trace_id', encode(l.trace_id, 'hex'), 'span_id', encode(l.span_id, 'hex'), 'category', l.category,
    'model', ${nameText('coalesce(l.response_model, l.request_model)')}${
      seesContent
        ? `, 'body', ${textJson('l.body::text', SHOWN_CHARACTERS)}, 'attributes', ${textJson('l.attributes::text', SHOWN_CHARACTERS)}`
        : ''
    })`;

export const listTraceLogs = readRoute(
  `${PROJECT}/traces/{trace}/logs`,
  ['after', 'limit', 'span'],
  async (context) => {
    const { caller, query, reader } = context;
    const trace = await findTrace(context);
    const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
    const span = query.get('span') ?? '';
    const { ns, passed } = readLogPlace(query.get('after')) ?? FIRST;
    const [row] = await reader.query(
      `SELECT string_agg(${logJson(caller.seesContent)}::text, E'\\n' ORDER BY l.ns, l.place) AS items, max(ARRAY[l.ns, l.place])::text[] AS last FROM (
       SELECT l.*, ${TIME} AS ns, row_number() OVER (PARTITION BY ${TIME} ORDER BY ${logPlace('l')}) AS place
       FROM sluice.logs l WHERE l.trace_id = $1::bytea AND l.project = $2::text AND l.received_at >= $3::timestamptz
         AND ($4::bytea IS NULL OR l.span_id = $4::bytea) AND ${TIME} >= $5::int8
       ORDER BY ns, place OFFSET $6::int4 LIMIT $7::int4) l`,
      [trace.id, trace.project, trace.logsSince, span === '' ? null : idOf(span, 8), ns, passed, limit],
    );
    const items = linesOf(row?.['items']);
    const next = items.length === limit ? [row?.['last']].flat().join('.') : null;
    return jsonText(`{"items":[${items.join(',')}],"next":${JSON.stringify(next)}}`);
  },
);

export const listLogs = readRoute(
  `${PROJECT}/logs`,
  ['q', 'env', 'from', 'to', 'cursor', 'limit', 'archived'],
  async (context) => {
    const { caller, project, query, reader } = context;
    const parameters = new Parameters();
    const { row, isHeavy } = conditionsOf(context, 'log', parameters);
    const conditions = allOf([...row, ...environmentCondition(context, 'l.environment', parameters)]);
    const question = ['logs', project, query.get('q') ?? '', query.get('env') ?? ''];
    const { from, until } = rangeOf(context);
    const limit = limitOf(context, DEFAULT_LIMIT, HIGHEST_LIMIT);
    // A position is a time and how many records of that time were passed.
    const [ns = String(until - 1n), passed = '0'] =
      readCursor(query.get('cursor'), question, [isStoredTime, isCount]) ?? [];
    const size = isHeavy ? HEAVY_SLICE : conditions === 'true' ? limit : SLICE;
    const text = logSlice(logJson(caller.seesContent), conditions, (at) => `$${parameters.values.length + at}`);
    const start = performance.now();
    let position: LogPosition | null = { ns, passed: Number(passed) };
    const items: string[] = [];
    let examined = 0;
    let reached: string | null = null;
    while (position !== null && items.length < limit && performance.now() - start < ENOUGH_MS) {
      const own = [project, String(from), position.ns, position.passed, size, limit - items.length];
      const [slice] = await reader.query(text, [...parameters.values, ...own]);
      items.push(...linesOf(slice?.['items']));
      examined += Number(slice?.['examined']);
      reached = slice?.['last_ns'] === null ? reached : String(slice?.['last_ns']);
      position = nextPosition(position, slice ?? {}, size);
    }
    const next = position === null ? null : writeCursor(question, [position.ns, String(position.passed)]);
    const { reply, completeness } = await reachOf(context, {
      ...{ of: 'traces', from, until, isDetailed: true },
      isEnough: (completeFrom) => position !== null && BigInt(position.ns) >= completeFrom,
    });
    if (reply !== null) return reply;
    const end = { next, examined, reached, more: next !== null, ...completeness };
    return jsonText(`{"items":[${items.join(',')}],${JSON.stringify(end).slice(1)}`);
  },
);

interface LogPosition {
  readonly ns: string;
  readonly passed: number;
}

function nextPosition(before: LogPosition, slice: Readonly<Record<string, unknown>>, size: number): LogPosition | null {
  const examined = Number(slice['examined']);
  if (examined === 0 || (examined < size && slice['is_full'] !== true)) return null;
  const ns = String(slice['last_ns']);
  const atLast = Number(slice['at_last']);
  return { ns, passed: ns === before.ns ? before.passed + atLast : atLast };
}

/**
 * The order of the rows of `logsByTime`. `rows`: their name in the statement. Of one time the first that was stored is
 * first, so that a record which arrives at the time of a position does not move those that were passed.
 */
export const newestFirst = (rows: string): string => `${rows}.ns DESC, ${rows}.place_table, ${rows}.place_row`;

interface LogsByTime {
  readonly project: string;
  readonly lowest: string;
  readonly highest: string;
  /** Conditions on a record `l`. */
  readonly conditions?: string;
  /** How many records are read of this at most. */
  readonly most: string;
}

/**
 * The newest log records of a project in a range of time, as SQL, with their time as `ns`: those with a time of their
 * own, and the others. Each half is read in the order of its index. Its own limit is needed for that: PostgreSQL 18
 * would read and sort the whole second half, which is ordered by an expression.
 */
export function logsByTime({ project, lowest, highest, conditions = 'true', most }: LogsByTime): string {
  const half = (ns: string, isOfHalf: string): string =>
    `SELECT l.*, ${ns} AS ns, l.tableoid AS place_table, l.ctid AS place_row FROM sluice.logs l
     WHERE l.project = ${project} AND ${ns} BETWEEN ${lowest} AND ${highest} AND ${isOfHalf} AND ${conditions}
     ORDER BY ${ns} DESC, ${logPlace('l')} LIMIT ${most}`;
  const timed = half('l.time_unix_nano', 'l.time_unix_nano IS NOT NULL');
  return `((${timed}) UNION ALL (${half(TIME, 'l.time_unix_nano IS NULL')}))`;
}

/**
 * `place`: project, lowest time, time of the position, number of records of that time that were returned already, size
 * of the slice, and limit.
 */
function logSlice(row: string, conditions: string, place: (at: number) => string): string {
  return `
  WITH slice AS MATERIALIZED (
    SELECT l.*, row_number() OVER (ORDER BY ${newestFirst('l')}) AS number FROM (
      SELECT * FROM ${logsByTime({
        ...{ project: `${place(1)}::text`, lowest: `${place(2)}::int8`, highest: `${place(3)}::int8` },
        most: `${place(4)}::int4 + ${place(5)}::int4`,
      })} l
      ORDER BY ${newestFirst('l')} OFFSET ${place(4)}::int4 LIMIT ${place(5)}::int4) l
  ), hits AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM slice ORDER BY number OFFSET 0) l WHERE ${conditions} LIMIT ${place(6)}::int4
  ), seen AS (
    SELECT * FROM slice WHERE (SELECT count(*) FROM hits) < ${place(6)}::int4 OR number <= (SELECT max(number) FROM hits))
  SELECT count(*)::int4 AS examined, min(ns) AS last_ns,
    count(*) FILTER (WHERE ns = (SELECT min(ns) FROM seen))::int4 AS at_last,
    (SELECT count(*) FROM hits) = ${place(6)}::int4 AS is_full,
    (SELECT string_agg(${row}::text, E'\\n' ORDER BY l.number) FROM hits l) AS items
  FROM seen`;
}
