/** The rules between the ledger's own rows (markers, claims, counters) and the records. */
import { type Case, keysOf, nameOf } from './checker.ts';
import { type BodyHistory, outcomeOf } from './history.ts';
import type { LedgerRows, OwnedTrace } from './store.ts';

export function checkLedger(one: Case, ledger: LedgerRows): void {
  checkMarkers(one, ledger);
  checkOwners(one, ledger);
  checkRefusals(one, ledger);
  checkUsage(one, ledger);
  for (const trace of ledger.wrongBounds)
    one.findings.add('wrong_quota', `trace ${trace}: its bounds are not those of its spans`);
  if (ledger.deadlocks > 0)
    one.findings.add('deadlock', `the server had to break ${ledger.deadlocks} deadlocks between writers`);
}

/**
 * Every accepted body has a marker, and no other. A body without an answer has one exactly when its records are stored.
 */
function checkMarkers({ histories, rows, carriers, findings }: Case, { markers }: LedgerRows): void {
  const left = new Set(markers.map(({ project, marker }) => `${project} ${marker}`));
  for (const history of histories.values()) {
    const { body } = history;
    const isMarked = left.delete(`${body.project} ${body.marker}`);
    const outcome = outcomeOf(history);
    if (outcome === 'stored' && !isMarked)
      findings.add('lost', `${nameOf(body)}: answered 200, and its marker is missing`);
    if (outcome === 'refused' && isMarked) findings.add('residue', `${nameOf(body)}: refused, and left a marker`);
    const { own } = keysOf(history, carriers);
    if (outcome !== 'open' || own.length === 0) continue;
    const isStored = own.every((key) => rows.has(key));
    if (isMarked && !isStored) findings.add('partial', `${nameOf(body)}: a marker without its records`);
    if (!isMarked && isStored) findings.add('partial', `${nameOf(body)}: records without their marker`);
  }
  for (const marker of left) findings.add('foreign', `a marker that belongs to no request: ${marker}`);
}

/** A trace belongs to the project and environment of its rows. A trace without rows has no owner. */
function checkOwners({ store, findings }: Case, { traces }: LedgerRows): void {
  const owners = new Map(traces.map((trace) => [trace.traceId, trace]));
  const used = new Set<string>();
  for (const { traceId, project, environment, record } of store.records) {
    if (traceId === null) continue;
    used.add(traceId);
    const owner = owners.get(traceId);
    if (owner?.project === project && owner.environment === environment) continue;
    const says = owner === undefined ? 'has no owner' : `is owned by ${owner.project}/${owner.environment}`;
    findings.add('foreign', `record ${record} of ${project}/${environment} is in trace ${traceId}, which ${says}`);
  }
  for (const { traceId, project } of traces) {
    if (!used.has(traceId)) findings.add('residue', `${project} claims trace ${traceId} and has no record in it`);
  }
}

/**
 * A refusal has a reason that still holds at the end: claims are not removed and counters do not fall during a
 * scenario.
 */
function checkRefusals({ histories, findings }: Case, ledger: LedgerRows): void {
  const owners = new Map(ledger.traces.map((trace) => [trace.traceId, trace]));
  const spans = new Map(ledger.usage.map(({ project, spans }) => [project, spans]));
  for (const history of histories.values()) {
    const { body, statuses } = history;
    const claimed = body.traces.flatMap((traceId) => owners.get(traceId) ?? []);
    if (statuses.includes(409) && !claimed.some(({ project }) => project !== body.project))
      findings.add('wrong_answer', `${nameOf(body)}: 409, though no other project owns one of its traces`);
    if (body.nature === 'contested' && statuses.includes(403) && !claimed.some((trace) => isElsewhere(trace, history)))
      findings.add('wrong_answer', `${nameOf(body)}: 403, though its traces are in no other environment`);
    const used = spans.get(body.project) ?? 0;
    if (statuses.includes(429) && used + body.records.length <= (body.cap ?? 0))
      findings.add('wrong_answer', `${nameOf(body)}: 429, though ${used} of ${body.cap} spans are used`);
  }
}

function isElsewhere({ project, environment }: OwnedTrace, { body }: BodyHistory): boolean {
  return project === body.project && environment !== body.environment;
}

function checkUsage({ store, histories, findings }: Case, { usage }: LedgerRows): void {
  const stored = new Map<string, { traces: number; logs: number; metrics: number }>();
  for (const { project, signal } of store.records) {
    const sum = stored.get(project) ?? { traces: 0, logs: 0, metrics: 0 };
    sum[signal]++;
    stored.set(project, sum);
  }
  const caps = new Map([...histories.values()].map(({ body }) => [body.project, body.cap]));
  for (const { project, spans, logs, metricPoints } of usage) {
    const sum = stored.get(project) ?? { traces: 0, logs: 0, metrics: 0 };
    stored.delete(project);
    for (const [name, counted, real] of [
      ['spans', spans, sum.traces],
      ['log records', logs, sum.logs],
      ['metric points', metricPoints, sum.metrics],
    ] as const) {
      if (counted !== real)
        findings.add('wrong_quota', `${project}: ${counted} ${name} are counted, ${real} are stored`);
    }
    const cap = caps.get(project);
    if (typeof cap === 'number' && spans > cap)
      findings.add('wrong_quota', `${project}: ${spans} spans, the cap is ${cap}`);
  }
  for (const [project, sum] of stored) {
    if (sum.traces + sum.logs + sum.metrics > 0) findings.add('wrong_quota', `${project}: records, and no counter`);
  }
}
