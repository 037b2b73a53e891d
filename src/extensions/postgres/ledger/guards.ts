/**
 * The guards of a group, set-wise: one statement each, keys sorted over the whole group, so that two writers meet the same
 * rows in the same order and cannot deadlock.
 */
import type pg from 'pg';
import type { Claim, Quota, TraceClaim } from '../../../component/ledger.ts';

const CLAIM_MARKERS = `
  INSERT INTO sluice.replay_markers AS r (project, key, expires_ms)
  SELECT project, key, (extract(epoch FROM now()) * 1000)::int8 + 3600000
  FROM unnest($1::text[], $2::bytea[]) AS u (project, key) ORDER BY project, key
  ON CONFLICT (project, key) DO UPDATE SET expires_ms = excluded.expires_ms WHERE r.expires_ms <= excluded.expires_ms - 3600000
  RETURNING project, key`;

const FIND_MARKERS = `
  SELECT project, key FROM sluice.replay_markers JOIN unnest($1::text[], $2::bytea[]) AS u (project, key) USING (project, key)
  WHERE expires_ms > (extract(epoch FROM now()) * 1000)::int8`;

const CLAIM_TRACES = `
  INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns)
  SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::int8[], $5::int8[]) AS u (trace_id, project, environment, first_ns, last_ns)
  ORDER BY trace_id
  ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns)
  WHERE t.project = excluded.project AND t.environment = excluded.environment
  RETURNING encode(trace_id, 'hex') AS trace_id`;

const FIND_TRACES = `
  SELECT encode(trace_id, 'hex') AS trace_id, project, environment FROM sluice.traces WHERE trace_id = ANY ($1::bytea[])`;

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

const OPEN_USAGE = `
  INSERT INTO sluice.usage_months (project, month) SELECT project, ${MONTH} FROM unnest($1::text[]) AS u (project) ORDER BY project
  ON CONFLICT DO NOTHING`;

const LOCK_USAGE = `
  SELECT project, spans FROM sluice.usage_months WHERE month = ${MONTH} AND project = ANY ($1::text[]) ORDER BY project FOR UPDATE`;

const RESET_SECONDS = `
  SELECT greatest(1, ceil(extract(epoch FROM (${MONTH} + interval '1 month') AT TIME ZONE 'UTC' - now())))::int4 AS seconds`;

const ADD_USAGE = `
  INSERT INTO sluice.usage_months AS m (project, month, spans, logs, metric_points)
  SELECT project, ${MONTH}, spans, logs, metric_points
  FROM unnest($1::text[], $2::int8[], $3::int8[], $4::int8[]) AS u (project, spans, logs, metric_points) ORDER BY project
  ON CONFLICT (project, month) DO UPDATE
  SET spans = m.spans + excluded.spans, logs = m.logs + excluded.logs, metric_points = m.metric_points + excluded.metric_points`;

/** Who owns a stored trace, and where. */
export interface StoredTrace {
  readonly project: string;
  readonly environment: string;
}

/** Sets the markers of the claims; returns those whose body was accepted before and is still remembered. */
export async function claimMarkers(client: pg.Client, claims: readonly Claim[]): Promise<ReadonlySet<Claim>> {
  const { rows } = await client.query({ name: 'claim-markers', text: CLAIM_MARKERS, values: markerArrays(claims) });
  const set = new Set(rows.map(markerName));
  return new Set(claims.filter((claim) => !set.has(nameOf(claim))));
}

/** The claims that have a marker which has not expired: an old one, not swept away yet, says nothing of a lost commit. */
export async function findMarkers(client: pg.Client, claims: readonly Claim[]): Promise<ReadonlySet<Claim>> {
  const { rows } = await client.query(FIND_MARKERS, markerArrays(claims));
  const found = new Set(rows.map(markerName));
  return new Set(claims.filter((claim) => found.has(nameOf(claim))));
}

/**
 * Claims every trace of the claims, which must not contradict each other. Returns the stored traces that stand against it:
 * owned by another project, or of another environment.
 */
export async function claimTraces(
  client: pg.Client,
  claims: readonly Claim[],
): Promise<ReadonlyMap<string, StoredTrace>> {
  const traces = mergeTraces(claims);
  if (traces.size === 0) return new Map();
  const list = [...traces.values()];
  const { rows } = await client.query({
    name: 'claim-traces',
    text: CLAIM_TRACES,
    values: [
      list.map(({ trace }) => Buffer.from(trace.traceId, 'hex')),
      list.map(({ project }) => project),
      list.map(({ trace }) => trace.environment),
      list.map(({ trace }) => trace.firstNs?.toString() ?? null),
      list.map(({ trace }) => trace.lastNs?.toString() ?? null),
    ],
  });
  if (rows.length === traces.size) return new Map();
  for (const { trace_id: traceId } of rows) traces.delete(traceId);
  return findTraces(client, [...traces.keys()]);
}

async function findTraces(client: pg.Client, traceIds: readonly string[]): Promise<ReadonlyMap<string, StoredTrace>> {
  const { rows } = await client.query(FIND_TRACES, [traceIds.map((traceId) => Buffer.from(traceId, 'hex'))]);
  return new Map(rows.map(({ trace_id: traceId, project, environment }) => [traceId, { project, environment }]));
}

/** The free plan's counters of this month, locked until the transaction ends. */
export async function lockUsage(client: pg.Client, projects: readonly string[]): Promise<ReadonlyMap<string, number>> {
  await client.query({ name: 'open-usage', text: OPEN_USAGE, values: [projects] });
  const { rows } = await client.query({ name: 'lock-usage', text: LOCK_USAGE, values: [projects] });
  return new Map(rows.map(({ project, spans }) => [project, Number(spans)]));
}

/** Seconds until the next UTC month, by the database's clock. */
export async function resetSeconds(client: pg.Client): Promise<Quota['resetSeconds']> {
  const { rows } = await client.query({ name: 'reset-seconds', text: RESET_SECONDS, values: [] });
  return Number(rows[0]?.seconds);
}

export interface Usage {
  spans: number;
  logs: number;
  metricPoints: number;
}

/** The hottest row of all comes last, so that it is locked for the shortest time. */
export async function addUsage(client: pg.Client, usage: ReadonlyMap<string, Usage>): Promise<void> {
  const entries = [...usage];
  await client.query({
    name: 'add-usage',
    text: ADD_USAGE,
    values: [
      entries.map(([project]) => project),
      entries.map(([, { spans }]) => spans),
      entries.map(([, { logs }]) => logs),
      entries.map(([, { metricPoints }]) => metricPoints),
    ],
  });
}

function mergeTraces(claims: readonly Claim[]): Map<string, { readonly project: string; readonly trace: TraceClaim }> {
  const merged = new Map<string, { readonly project: string; readonly trace: TraceClaim }>();
  for (const { project, traces } of claims) {
    for (const trace of traces) {
      const known = merged.get(trace.traceId)?.trace;
      merged.set(trace.traceId, { project: project.name, trace: known === undefined ? trace : widest(known, trace) });
    }
  }
  return merged;
}

function widest(a: TraceClaim, b: TraceClaim): TraceClaim {
  const firstNs = a.firstNs === null || (b.firstNs !== null && b.firstNs < a.firstNs) ? b.firstNs : a.firstNs;
  const lastNs = a.lastNs === null || (b.lastNs !== null && b.lastNs > a.lastNs) ? b.lastNs : a.lastNs;
  return { ...a, firstNs, lastNs };
}

function markerArrays(claims: readonly Claim[]): unknown[] {
  return [claims.map(({ project }) => project.name), claims.map(({ replayKey }) => Buffer.from(replayKey))];
}

function markerName({ project, key }: { project: string; key: Buffer }): string {
  return `${project}\0${key.toString('latin1')}`;
}

export function nameOf(claim: Claim): string {
  return `${claim.project.name}\0${Buffer.from(claim.replayKey).toString('latin1')}`;
}
