/**
 * The guards of a group as steps of a pipeline, set-wise: one statement each, keys sorted over the whole group, so that two
 * writers meet the same rows in the same order and cannot deadlock.
 *
 * Each stands in two forms. Demanding, it fails with `GuardRefusal` unless all is well: then it can go out together with the
 * rows, which most groups are fit for. Asking, it tells what stands against which request.
 */
import type pg from 'pg';
import type { Claim, TraceClaim } from '../../../component/ledger.ts';
import { byteaArray, hexArray, integerArray, textArray } from '../array-parameter.ts';
import { type Parameter, type Row, runPipeline, type Statement, type Step } from '../pipeline.ts';
import { sqlstateOf } from '../sqlstate.ts';

/** Demanding guards divide by zero to fail: nothing else in their statements does, and it needs no function in the schema. */
const DIVISION_BY_ZERO = '22012';

const MARKERS = `
  INSERT INTO sluice.replay_markers AS r (project, key, expires_ms)
  SELECT project, key, (extract(epoch FROM now()) * 1000)::int8 + 3600000
  FROM unnest($1::text[], $2::bytea[]) AS u (project, key) ORDER BY project, key
  ON CONFLICT (project, key) DO UPDATE SET expires_ms = excluded.expires_ms WHERE r.expires_ms <= excluded.expires_ms - 3600000`;

const FIND_MARKERS = {
  text: `
    SELECT project, encode(key, 'hex')
    FROM sluice.replay_markers JOIN unnest($1::text[], $2::bytea[]) AS u (project, key) USING (project, key)
    WHERE expires_ms > (extract(epoch FROM now()) * 1000)::int8`,
};

const TRACES = `
  INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns)
  SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::int8[], $5::int8[]) AS u (trace_id, project, environment, first_ns, last_ns)
  ORDER BY trace_id
  ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns)
  WHERE t.project = excluded.project AND t.environment = excluded.environment`;

const FIND_TRACES = {
  text: `SELECT encode(trace_id, 'hex'), project, environment FROM sluice.traces WHERE trace_id = ANY ($1::bytea[])`,
};

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
const RESET_SECONDS = `greatest(1, ceil(extract(epoch FROM (${MONTH} + interval '1 month') AT TIME ZONE 'UTC' - now())))::int4`;
const LOCKED_USAGE = 'SELECT project, spans FROM sluice.lock_usage($1::text[])';

/** The statement in its demanding form: a row must come back for each key of the first parameter. */
const demanding = (text: string): string =>
  `WITH claimed AS (${text} RETURNING 1) SELECT 1 / (count(*) = cardinality($1))::int4 FROM claimed`;

const CLAIM_MARKERS = { name: 'claim-markers', text: `${MARKERS} RETURNING r.project, encode(r.key, 'hex')` };
const DEMAND_MARKERS = { name: 'demand-markers', text: demanding(MARKERS) };
const CLAIM_TRACES = { name: 'claim-traces', text: `${TRACES} RETURNING encode(t.trace_id, 'hex')` };
const DEMAND_TRACES = { name: 'demand-traces', text: demanding(TRACES) };
const LOCK_USAGE = {
  name: 'lock-usage',
  text: `WITH locked AS MATERIALIZED (${LOCKED_USAGE}) SELECT project, spans, ${RESET_SECONDS} FROM locked`,
};
const DEMAND_USAGE = {
  name: 'demand-usage',
  text: `
    WITH locked AS MATERIALIZED (${LOCKED_USAGE})
    SELECT ${RESET_SECONDS} / (count(*) = cardinality($1) AND bool_and(spans <= room))::int4
    FROM locked JOIN unnest($1::text[], $2::int8[]) AS u (project, room) USING (project)`,
};
const ADD_USAGE = {
  name: 'add-usage',
  text: `SELECT sluice.add_usage($1::text[], $2::int8[], $3::int8[], $4::int8[]) -- UPDATE or INSERT INTO sluice.usage_months`,
};

/** To be prepared once on each connection. */
export const GUARD_STATEMENTS: readonly Required<Statement>[] = [
  CLAIM_MARKERS,
  DEMAND_MARKERS,
  CLAIM_TRACES,
  DEMAND_TRACES,
  LOCK_USAGE,
  DEMAND_USAGE,
  ADD_USAGE,
];

/** A guard that was demanded does not hold; which one, and against whom, only asking tells. */
export class GuardRefusal extends Error {
  constructor() {
    super('a guard refused the group');
  }
}

/** Who owns a stored trace, and where. */
export interface StoredTrace {
  readonly project: string;
  readonly environment: string;
}

/** What the guards tell besides their verdict. */
export interface Reading {
  /** Seconds until the next UTC month, by the database's clock; 0 while nobody with a quota asked. */
  resetSeconds: number;
}

/** The answers of the asking guards. */
export interface Answers extends Reading {
  /** Names of the claims whose markers were set. */
  readonly marked: ReadonlySet<string>;
  /** Ids of the traces that were claimed. */
  readonly claimed: ReadonlySet<string>;
  /** Spans of this month by project, of those with a quota; locked until the transaction ends. */
  readonly used: ReadonlyMap<string, number>;
}

/** Claims must not contradict each other: no two with one body, no two with different claims on one trace. */
export function demandGuards(claims: readonly Claim[], reading: Reading): readonly Step[] {
  const steps: Step[] = [{ statement: DEMAND_MARKERS, values: markerArrays(claims), translate: asRefusal }];
  const traces = mergeTraces(claims);
  if (traces.length > 0) steps.push({ statement: DEMAND_TRACES, values: traceArrays(traces), translate: asRefusal });
  const room = roomOf(claims);
  if (room.size === 0) return steps;
  const projects = textArray([...room.keys()]);
  steps.push({
    statement: DEMAND_USAGE,
    values: [projects, integerArray([...room.values()])],
    read: ({ rows }) => void (reading.resetSeconds = Number(rows[0]?.[0])),
    translate: asRefusal,
  });
  return steps;
}

/** Sets what can be set of the same claims, and tells what that was. */
export async function askGuards(client: pg.Client, opening: Step, claims: readonly Claim[]): Promise<Answers> {
  const marked = new Set<string>();
  const claimed = new Set<string>();
  const used = new Map<string, number>();
  const answers = { marked, claimed, used, resetSeconds: 0 };
  const each = (take: (row: Row) => void) => ({
    read: ({ rows }: { readonly rows: readonly Row[] }) => rows.forEach(take),
  });
  const steps: Step[] = [
    opening,
    { statement: CLAIM_MARKERS, values: markerArrays(claims), ...each((row) => marked.add(rowName(row))) },
  ];
  const traces = mergeTraces(claims);
  if (traces.length > 0) {
    const take = each(([traceId]) => claimed.add(String(traceId)));
    steps.push({ statement: CLAIM_TRACES, values: traceArrays(traces), ...take });
  }
  const projects = [...roomOf(claims).keys()];
  if (projects.length > 0) {
    const take = each(([project, spans, seconds]) => {
      used.set(String(project), Number(spans));
      answers.resetSeconds = Number(seconds);
    });
    steps.push({ statement: LOCK_USAGE, values: [textArray(projects)], ...take });
  }
  await runPipeline(client, steps);
  return answers;
}

/** The claims that have a marker which has not expired: an old one, not swept away yet, says nothing of a lost commit. */
export async function findMarkers(client: pg.Client, claims: readonly Claim[]): Promise<ReadonlySet<Claim>> {
  const found = new Set<string>();
  const read: Step['read'] = ({ rows }) => {
    for (const row of rows) found.add(rowName(row));
  };
  await runPipeline(client, [{ statement: FIND_MARKERS, values: markerArrays(claims), read }]);
  return new Set(claims.filter((claim) => found.has(nameOf(claim))));
}

export async function findTraces(
  client: pg.Client,
  traceIds: readonly string[],
): Promise<ReadonlyMap<string, StoredTrace>> {
  const found = new Map<string, StoredTrace>();
  const read: Step['read'] = ({ rows }) => {
    for (const [traceId, project, environment] of rows)
      found.set(String(traceId), { project: String(project), environment: String(environment) });
  };
  await runPipeline(client, [{ statement: FIND_TRACES, values: [hexArray(traceIds)], read }]);
  return found;
}

export interface Usage {
  spans: number;
  logs: number;
  metricPoints: number;
}

/** The hottest row of all comes last, so that it is locked for the shortest time. */
export function addUsage(usage: ReadonlyMap<string, Usage>): Step {
  const sums = [...usage.values()];
  return {
    statement: ADD_USAGE,
    values: [
      textArray([...usage.keys()]),
      integerArray(sums.map(({ spans }) => spans)),
      integerArray(sums.map(({ logs }) => logs)),
      integerArray(sums.map(({ metricPoints }) => metricPoints)),
    ],
  };
}

/**
 * How many spans each project with a quota may have stored before this group, for all of the group to pass. Requests that are
 * no traces need the quota not to be used up before them, so one span of room is kept for them: too strict at the very limit,
 * where asking decides exactly.
 */
function roomOf(claims: readonly Claim[]): ReadonlyMap<string, number> {
  const room = new Map<string, number>();
  for (const { project, signal, spanCount } of claims) {
    if (project.monthlySpans === null) continue;
    const left = room.get(project.name) ?? project.monthlySpans;
    room.set(project.name, left - (signal === 'traces' ? spanCount : 1));
  }
  return new Map([...room].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A trace of the group, as wide as all its claims together. */
interface MergedTrace {
  readonly project: string;
  claim: TraceClaim;
}

function mergeTraces(claims: readonly Claim[]): readonly MergedTrace[] {
  const merged = new Map<string, MergedTrace>();
  for (const { project, traces } of claims) {
    for (const claim of traces) {
      const known = merged.get(claim.traceId);
      if (known === undefined) merged.set(claim.traceId, { project: project.name, claim });
      else known.claim = widest(known.claim, claim);
    }
  }
  return [...merged.values()];
}

function widest(a: TraceClaim, b: TraceClaim): TraceClaim {
  const firstNs = a.firstNs === null || (b.firstNs !== null && b.firstNs < a.firstNs) ? b.firstNs : a.firstNs;
  const lastNs = a.lastNs === null || (b.lastNs !== null && b.lastNs > a.lastNs) ? b.lastNs : a.lastNs;
  return { ...a, firstNs, lastNs };
}

function traceArrays(traces: readonly MergedTrace[]): readonly Parameter[] {
  return [
    hexArray(traces.map(({ claim }) => claim.traceId)),
    textArray(traces.map(({ project }) => project)),
    textArray(traces.map(({ claim }) => claim.environment)),
    integerArray(traces.map(({ claim }) => claim.firstNs)),
    integerArray(traces.map(({ claim }) => claim.lastNs)),
  ];
}

function markerArrays(claims: readonly Claim[]): readonly Parameter[] {
  return [textArray(claims.map(({ project }) => project.name)), byteaArray(claims.map(({ replayKey }) => replayKey))];
}

function asRefusal(error: unknown): unknown {
  return sqlstateOf(error) === DIVISION_BY_ZERO ? new GuardRefusal() : error;
}

function rowName([project, key]: Row): string {
  return `${project}\0${key}`;
}

/** Tells bodies apart: project and replay key. */
export function nameOf(claim: Claim): string {
  return `${claim.project.name}\0${Buffer.from(claim.replayKey).toString('hex')}`;
}
