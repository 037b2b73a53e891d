/** Which requests wait for the end of a group of large ones. */
import fc from 'fast-check';
import t from 'tap';
import type { Claim } from '../../../src/component/capabilities/ledger.ts';
import { claimedTraces, listed } from '../../support/claimed-traces.ts';
import { BlockingClaims } from '../../../src/service/settle/heavy.ts';

const IDS = Array.from({ length: 12 }, (_, index) => index.toString(16).padStart(32, '0'));

const claims = fc
  .record({
    project: fc.constantFrom('a', 'b'),
    monthlySpans: fc.constantFrom(null, 100),
    key: fc.integer({ min: 0, max: 3 }),
    traces: fc.uniqueArray(fc.constantFrom(...IDS), { maxLength: 4 }),
  })
  .map(({ project, monthlySpans, key, traces }): Claim => {
    const plan = monthlySpans === null ? 'paid' : 'free';
    return {
      project: { name: project, plan, monthlySpans, privacy: new Map() },
      signal: 'traces',
      replayKey: Buffer.from(`key ${key}`),
      traces: claimedTraces(traces.map((traceId) => ({ traceId, project }))),
      spanCount: 1,
      recordCount: 1,
    };
  });

/** The rule as it is said: the same body or a locked counter of one project, or a common trace. */
function dependsOn(claim: Claim, other: Claim, holdsCounters: boolean): boolean {
  const isSameProject = claim.project.name === other.project.name;
  const isSameBody = String(claim.replayKey) === String(other.replayKey);
  const hasCommonTrace = listed(claim.traces).some((one) =>
    listed(other.traces).some(({ traceId }) => traceId === one.traceId),
  );
  return (isSameProject && (isSameBody || (holdsCounters && other.project.monthlySpans !== null))) || hasCommonTrace;
}

t.test('a claim is blocked by each that it depends on, one or many', async (t) => {
  fc.assert(
    fc.property(claims, fc.array(claims, { minLength: 1, maxLength: 5 }), fc.boolean(), (claim, others, holds) => {
      const blocking = new BlockingClaims(others, holds);
      const expected = others.some((other) => dependsOn(claim, other, holds));
      return blocking.block(claim) === expected && blocking.block(claim) === expected;
    }),
    { numRuns: 2000 },
  );
  t.pass('2,000 cases');
});
