/** Finds one trace in the lake: by the times of its claim, by a span, or from the newest archived day backwards. */
import type { ArchivedFile } from '../../archive/reading/archived-files.ts';
import type { FoundTrace } from '../../archive/reading/archived-rows.ts';
import type { TraceRange } from '../../archive/reading/partial-file.ts';
import type { PartScope } from '../../archive/reading/waiting-parts.ts';
import { NEAR_NS } from '../../component/archived-day.ts';
import { idsFrom, SPAN_ID_DIGITS, TRACE_ID_DIGITS } from '../../pdata/record-ids.ts';
import { SHOWN_CANDIDATES } from '../view/trace-record.ts';
import { dayNear, dayOf } from './archived-range.ts';
import type { Lake } from './lake.ts';
import { DAY_MS, MS_NS } from '../../pdata/time-units.ts';

export interface TraceSearch {
  /** The id, or the beginning of one. */
  readonly id: string;
  readonly project: string | null;
  /** Unix nanoseconds; null: no limit. */
  readonly since: string | null;
}

/** Loads the archived records of the trace. Nothing is read when PostgreSQL has all of them. */
export async function loadTrace(lake: Lake, search: TraceSearch): Promise<void> {
  const prefix = search.id.toLowerCase();
  // The search by `findTrace` explains what is wrong with the id.
  if (!/^[0-9a-f]{1,32}$/u.test(prefix)) return;
  const [from, to] = idsFrom(prefix, TRACE_ID_DIGITS);
  const traces = { from, to };
  const claims = await lake.reader.query(
    `SELECT encode(trace_id, 'hex') AS trace_id, project, first_ns::text AS first_ns, last_ns::text AS last_ns,
       (extract(epoch FROM created_at) * 1000)::float8 AS created_ms
     FROM sluice.traces WHERE trace_id BETWEEN decode($1, 'hex') AND decode($2, 'hex') AND ($3::text IS NULL OR project = $3) LIMIT 2`,
    [from, to, search.project],
  );
  const [claim, second] = claims;
  if (second !== undefined) return;
  // A trace of which records are in objects only has a claim.
  if (claim === undefined) await searchBackwards(lake, traces, search);
  else {
    const createdNs = BigInt(Math.floor(Number(claim['created_ms']))) * MS_NS;
    const timeOf = (name: string): bigint => (claim[name] === null ? createdNs : BigInt(String(claim[name])));
    const [id, project] = [String(claim['trace_id']), String(claim['project'])];
    const [firstNs, lastNs] = [timeOf('first_ns'), timeOf('last_ns')];
    const wanted = { project, traces: [{ from: id, to: id }] };
    await lake.includeParts({
      ...{ ...wanted, signals: WITH_TRACES },
      ...{ fromNs: firstNs - NEAR_NS, untilNs: lastNs + NEAR_NS, arrivedNs: createdNs - NEAR_NS },
    });
    const files = filesBetween(lake.files, firstNs, lastNs);
    await lake.load({ files: filesWithTraces(files, { project, since: null }), ...wanted });
  }
  await lake.complete();
}

/** Loads the traces with such a span, of the newest archived day that has one. `id`: of the span, or the beginning. */
export async function loadTraceOfSpan(lake: Lake, { id, project, since }: TraceSearch): Promise<void> {
  const prefix = id.toLowerCase();
  const [from, to] = idsFrom(prefix, SPAN_ID_DIGITS);
  await lake.includeParts(partsSince({ project, since }));
  const spans = filesWithTraces(lake.files, { project, since }).filter(({ signal }) => signal === 'spans');
  for (const day of new Set(spans.map((file) => file.day))) {
    const ofDay = spans.filter((file) => file.day === day);
    const where = { spans: `span_id BETWEEN '${from}' AND '${to}'` };
    const found = await lake.findTraces({ files: ofDay, project, traces: null, where }, SHOWN_CANDIDATES);
    if (found.length === 0) continue;
    await loadFound(lake, found);
    return;
  }
}

/** Loads the records of traces from the files of the days around those on which they were found. */
export async function loadFound(lake: Lake, found: readonly FoundTrace[]): Promise<void> {
  const wanted = found.map(({ project, traceId, day }) => ({
    ...{ project, traceId },
    from: dayNear(day, -1),
    to: dayNear(day, 1),
  }));
  for (const file of filesWithTraces(lake.files, { project: null, since: null })) {
    const near = wanted.filter(
      ({ project, from, to }) => file.day >= from && file.day <= to && file.projects.includes(project),
    );
    const ids = [...new Set(near.map(({ traceId }) => traceId))];
    if (ids.length === 0) continue;
    await lake.load({ files: [file], project: null, traces: ids.map((each) => ({ from: each, to: each })) });
  }
  await lake.complete();
}

const WITH_TRACES = ['spans', 'logs'] as const;

/** As `filesWithTraces`, of objects. A time is of whole days. */
export function partsSince({ project, since }: Omit<TraceSearch, 'id'>): PartScope {
  const fromNs = since === null ? null : BigInt(since) - (BigInt(since) % (BigInt(DAY_MS) * MS_NS));
  return { signals: WITH_TRACES, project, fromNs, untilNs: null, traces: null, arrivedNs: null };
}

/** The files of spans and log records. */
export function filesWithTraces(
  files: readonly ArchivedFile[],
  { project, since }: Omit<TraceSearch, 'id'>,
): readonly ArchivedFile[] {
  const first = since === null ? '' : dayOf(BigInt(since));
  return files.filter(
    ({ signal, day, projects }) =>
      signal !== 'metric_points' && day >= first && (project === null || projects.includes(project)),
  );
}

/** The files with times near the trace, and the files of its days. Late records can be in files of later days. */
function filesBetween(files: readonly ArchivedFile[], firstNs: bigint, lastNs: bigint): readonly ArchivedFile[] {
  const [from, to] = [dayOf(firstNs - NEAR_NS), dayOf(lastNs + NEAR_NS)];
  return files.filter(
    ({ day, minNs, maxNs }) =>
      (day >= from && day <= to) ||
      (minNs !== null && maxNs !== null && minNs <= lastNs + NEAR_NS && maxNs >= firstNs - NEAR_NS),
  );
}

/**
 * The claim of an archived trace expires with its records. The search ends at the first day before which the trace has
 * no records, as a trace lasts minutes.
 */
async function searchBackwards(lake: Lake, traces: TraceRange, { project, since }: TraceSearch): Promise<void> {
  const files = filesWithTraces(lake.files, { project, since });
  let found: string | null = null;
  for (const day of new Set(files.map((file) => file.day))) {
    if (found !== null && Date.parse(found) - Date.parse(day) > DAY_MS) return;
    const rows = await lake.load({ files: files.filter((file) => file.day === day), project, traces: [traces] });
    if (rows > 0) found = day;
    else if (found !== null) return;
  }
}
