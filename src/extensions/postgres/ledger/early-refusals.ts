/**
 * Finds the requests that the stored state refuses, by reading only. A sender that was refused often sends more of the
 * same; with the guards alone, each of its requests would write rows that are rolled back.
 */
import type pg from 'pg';
import type { Claim, Outcome } from '../../../component/capabilities/ledger.ts';
import { mergeTraces } from '../../../pdata/claimed-traces.ts';
import { OwnedTraces } from '../../../pdata/owned-traces.ts';
import { finish } from '../../../pdata/steps.ts';
import { idArray, textArray } from '../array-parameter.ts';
import { runPipeline, type Step } from '../wire-pipeline.ts';
import { FIND_MARKERS, FIND_TRACES, FIND_USAGE } from './guard-statements.ts';
import { markerArrays, nameOf, type Reading, readOwners, rowName, TRACES_PER_STATEMENT } from './guards.ts';
import { conflicts, overQuota } from './outcomes.ts';

export interface EarlyRefusals {
  readonly refused: ReadonlyMap<Claim, Outcome>;
  /** The owners of the stored traces of the claims. */
  readonly owners: OwnedTraces;
}

/**
 * A request with a replay marker is not refused, and one with very many traces is left to the guards. Exact although
 * nothing is locked: a stored owner stays, and the counters of a month only grow.
 */
export async function findEarlyRefusals(
  client: pg.Client,
  round: readonly Claim[],
  reading: Reading,
): Promise<EarlyRefusals> {
  const claims = round.filter(({ traces }) => traces.count <= TRACES_PER_STATEMENT / round.length);
  const [marked, owners, used] = [new Set<string>(), new OwnedTraces(TRACES_PER_STATEMENT), new Map<string, number>()];
  const traces = mergeTraces(claims.map((claim) => claim.traces)).inOrderOfClaims();
  const steps: Step[] = [
    {
      statement: FIND_MARKERS,
      values: markerArrays(claims),
      read: ({ rows }) => {
        for (const row of rows) marked.add(rowName(row));
      },
    },
    {
      statement: FIND_TRACES,
      values: [idArray(traces, 0, traces.count)],
      read: ({ rows }) => readOwners(rows, owners),
    },
  ];
  const limited = claims.filter(({ project }) => project.monthlySpans !== null);
  if (limited.length > 0)
    steps.push({
      statement: FIND_USAGE,
      values: [textArray([...new Set(limited.map(({ project }) => project.name))])],
      read: ({ rows }) => {
        for (const [project, spans, seconds] of rows) {
          used.set(String(project), Number(spans));
          reading.resetSeconds = Number(seconds);
        }
      },
    });
  await runPipeline(client, steps);
  const fresh = claims.filter((claim) => !marked.has(nameOf(claim)));
  const refused = finish(conflicts(fresh, owners));
  for (const claim of fresh) {
    // Each by itself: whether the others of the group are stored is not known yet.
    const [over] = overQuota([claim], reading, new Map(used)).values();
    if (over !== undefined && !refused.has(claim)) refused.set(claim, over);
  }
  return { refused, owners };
}
