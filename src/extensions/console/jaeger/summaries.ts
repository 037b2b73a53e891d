/** Names of services and operations among the newest spans, and summaries of traces. */
import type { TraceRow } from '../api/shapes/traces.ts';
import { nameText } from '../api/texts.ts';
import { spansOf } from '../filter/trace-spans.ts';
import type { RequestContext } from '../server/route.ts';
import { UNKNOWN_SERVICE } from './search-question.ts';

/** How many of the newest spans are read for names. */
const SAMPLE = 50_000;
const NAMES = 5000;

const NEWEST = `newest AS NOT MATERIALIZED (
  SELECT coalesce(${nameText('s.service_name')}, '${UNKNOWN_SERVICE}') AS service, ${nameText('s.name')} AS name, s.kind FROM sluice.spans s
  WHERE s.project = $1::text ORDER BY s.start_time_unix_nano DESC LIMIT ${SAMPLE})`;

export async function servicesOf({ project, reader }: RequestContext): Promise<readonly string[]> {
  const [row] = await reader.prepared(
    `WITH ${NEWEST} SELECT ARRAY(SELECT DISTINCT service FROM newest ORDER BY 1 LIMIT ${NAMES}) AS names`,
    [project],
  );
  return (row?.['names'] ?? []) as readonly string[];
}

export interface Operation {
  readonly name: string;
  readonly spanKind: string;
}

export async function operationsOf(
  { project, reader }: RequestContext,
  service: string,
): Promise<readonly Operation[]> {
  const rows = await reader.prepared(
    `WITH ${NEWEST} SELECT DISTINCT name, kind FROM newest WHERE service = ${nameText('$2::text')} ORDER BY 1, 2 LIMIT ${NAMES}`,
    [project, service],
  );
  return rows.map((row) => {
    const kind = String(row['kind'] ?? '');
    return { name: String(row['name']), spanKind: kind === 'unspecified' ? '' : kind };
  });
}

/** Spans of each service, and spans whose parent is missing. */
const FIGURES = `
  WITH members AS MATERIALIZED (
    SELECT t.trace_id, s.span_id, s.parent_span_id, coalesce(${nameText('s.service_name')}, '${UNKNOWN_SERVICE}') AS service,
      s.status = 'error' OR s.is_error IS TRUE AS failed
    FROM sluice.traces t JOIN sluice.spans s ON ${spansOf('s', '>= $3::int8')}
    WHERE t.project = $1::text AND t.trace_id = ANY ($2::bytea[])
  ), ids AS MATERIALIZED (SELECT DISTINCT trace_id, span_id FROM members), services AS (
    SELECT m.trace_id, m.service, count(*) AS spans, count(*) FILTER (WHERE m.failed) AS errors,
      count(*) FILTER (WHERE m.parent_span_id IS NOT NULL AND p.span_id IS NULL) AS orphans
    FROM members m LEFT JOIN ids p ON p.trace_id = m.trace_id AND p.span_id = m.parent_span_id GROUP BY 1, 2)
  SELECT encode(trace_id, 'hex') AS id, sum(orphans)::int4 AS orphans, json_agg(json_build_object(
    'name', service, 'spanCount', spans, 'errorSpanCount', errors) ORDER BY service) AS services
  FROM services GROUP BY trace_id`;

export async function summariesOf(
  { project, reader }: RequestContext,
  traces: readonly TraceRow[],
): Promise<readonly object[]> {
  const ids = traces.map(({ trace_id }) => Buffer.from(trace_id, 'hex'));
  // The newest are first, in the order of their starts.
  const first = traces.at(-1)?.start_time_unix_nano;
  const rows = ids.length === 0 ? [] : await reader.query(FIGURES, [project, ids, first]);
  const figures = new Map(rows.map((row) => [String(row['id']), row]));
  return traces.map((trace) => {
    const start = BigInt(trace.start_time_unix_nano);
    return {
      traceId: trace.trace_id,
      rootServiceName: trace.service ?? UNKNOWN_SERVICE,
      rootOperationName: trace.name,
      minStartTimeUnixNano: String(start),
      maxEndTimeUnixNano: String(start + BigInt(trace.duration_ns)),
      spanCount: trace.span_count,
      errorSpanCount: trace.error_count,
      orphanSpanCount: figures.get(trace.trace_id)?.['orphans'] ?? 0,
      services: figures.get(trace.trace_id)?.['services'] ?? [],
    };
  });
}
