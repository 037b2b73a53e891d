/**
 * Derives the outcomes of a round's requests from the guards' results, and finds the requests that can share a round.
 */
import type { Claim, Quota, Outcome } from '../../../component/capabilities/ledger.ts';
import { Rejection } from '../../../errors.ts';
import { countOf } from '../../../pdata/claimed-traces.ts';
import { OwnedTraces } from '../../../pdata/owned-traces.ts';
import { finish, type Steps } from '../../../pdata/steps.ts';
import { traceConflict } from '../../../pdata/trace-conflict.ts';
import { nameOf, type Reading, type Usage } from './guards.ts';

/** The requests that can be settled together: no two with the same body, no two with different claims on one trace. */
export function compatible(pending: readonly Claim[]): readonly Claim[] {
  if (pending.length === 1) return pending;
  const bodies = new Set<string>();
  const owners = new OwnedTraces(countOf(pending.map(({ traces }) => traces)));
  return pending.filter((claim) => {
    const body = nameOf(claim);
    if (bodies.has(body) || finish(conflictOf(claim, owners)) !== null) return false;
    bodies.add(body);
    addOwners(claim, owners);
    return true;
  });
}

/**
 * The outcomes that a decided round implies for requests that could not share it: a request with the body of a decided
 * one gets its outcome, and a claim that contradicts the owner of a trace is refused. `owners`: of stored traces.
 */
export function implied(
  pending: readonly Claim[],
  decided: ReadonlyMap<Claim, Outcome>,
  owners: OwnedTraces,
): ReadonlyMap<Claim, Outcome> {
  const byBody = new Map([...decided].map(([claim, outcome]) => [nameOf(claim), outcome]));
  const outcomes = finish(conflicts(pending, owners));
  for (const claim of pending) {
    const outcome = byBody.get(nameOf(claim));
    if (outcome !== undefined)
      outcomes.set(claim, outcome.kind === 'stored' ? { ...outcome, kind: 'replayed' } : outcome);
  }
  return outcomes;
}

/** Owners of the traces of stored requests. */
export function ownersOf(claims: readonly Claim[]): OwnedTraces {
  const owners = new OwnedTraces(countOf(claims.map(({ traces }) => traces)));
  for (const claim of claims) addOwners(claim, owners);
  return owners;
}

function addOwners({ traces }: Claim, owners: OwnedTraces): void {
  for (let index = 0; index < traces.count; index++)
    owners.claim(traces.words, traces.placeOf(index), traces.ownerOf(index));
}

export function* conflicts(claims: readonly Claim[], against: OwnedTraces): Steps<Map<Claim, Outcome>> {
  const refused = new Map<Claim, Outcome>();
  for (const claim of claims) {
    const rejection = yield* conflictOf(claim, against);
    if (rejection !== null) refused.set(claim, { kind: 'refused', rejection });
  }
  return refused;
}

function conflictOf({ project, traces }: Claim, against: OwnedTraces): Steps<Rejection | null> {
  return traceConflict(traces, project.name, (place) => against.ownerOf(traces.words, place));
}

/** One outcome for all claims. Projects with a quota get its state with it. */
export function outcomesFor(
  claims: readonly Claim[],
  kind: 'stored' | 'replayed',
  reading: Reading,
): ReadonlyMap<Claim, Outcome> {
  return new Map(claims.map((claim) => [claim, { kind, quota: quotaOf(claim, reading) }]));
}

function quotaOf({ project }: Claim, { resetSeconds }: Reading): Quota | null {
  return project.monthlySpans === null ? null : { limit: project.monthlySpans, resetSeconds };
}

/** `used` is increased on the way: requests of one group share the rest of the quota. */
export function overQuota(claims: readonly Claim[], reading: Reading, used: Map<string, number>): Map<Claim, Outcome> {
  const refused = new Map<Claim, Outcome>();
  for (const claim of claims) {
    const quota = quotaOf(claim, reading);
    if (quota === null) continue;
    const spans = used.get(claim.project.name) ?? 0;
    const isOver = claim.signal === 'traces' ? spans + claim.spanCount > quota.limit : spans >= quota.limit;
    if (!isOver) {
      used.set(claim.project.name, spans + claim.spanCount);
      continue;
    }
    const after = { retryAfterSeconds: quota.resetSeconds, ...(claim.signal === 'traces' ? { quota } : {}) };
    refused.set(claim, { kind: 'refused', rejection: new Rejection('quota_exceeded', {}, after) });
  }
  return refused;
}

export function usageOf(
  claims: readonly Claim[],
  storedSpans: ReadonlyMap<string, number> | null,
): ReadonlyMap<string, Usage> {
  const usage = new Map<string, Usage>();
  for (const { project, signal, recordCount } of claims) {
    const sum = usage.get(project.name) ?? { spans: 0, logs: 0, metricPoints: 0 };
    if (signal === 'traces') sum.spans += recordCount;
    else if (signal === 'logs') sum.logs += recordCount;
    else sum.metricPoints += recordCount;
    usage.set(project.name, sum);
  }
  if (storedSpans !== null) for (const [project, sum] of usage) sum.spans = storedSpans.get(project) ?? 0;
  return usage;
}
