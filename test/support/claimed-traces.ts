import { ClaimedTraces, TraceList, wordsOf } from '../../src/pdata/claimed-traces.ts';
import { finish } from '../../src/pdata/steps.ts';

export interface TraceClaim {
  /** Hex digits; zeros are added in front. */
  readonly traceId: string;
  readonly project?: string;
  readonly environment?: string;
  readonly firstNs?: bigint;
  readonly lastNs?: bigint;
}

export const NO_TRACES = ClaimedTraces.none;

/** The claimed traces of a batch with these records. */
export function claimedTraces(claims: readonly TraceClaim[]): ClaimedTraces {
  const owners = claims.map(({ project = 'p', environment = 'default' }) => ({ project, environment }));
  const list = new TraceList(owners, claims.length);
  for (const [index, { traceId, firstNs, lastNs = firstNs }] of claims.entries()) {
    const trace = list.enter(wordsOf(traceId.padStart(32, '0')), 0, index);
    if (firstNs === undefined || lastNs === undefined) continue;
    list.widen(trace, new Uint32Array(BigUint64Array.of(firstNs, lastNs).buffer), 0, 2);
  }
  return finish(list.sorted());
}

/** Back to claims, in order. */
export function listed(traces: ClaimedTraces): readonly TraceClaim[] {
  return Array.from({ length: traces.count }, (_, index) => {
    const claim = { traceId: traces.traceIdOf(index), ...traces.ownerOf(index) };
    if (!traces.hasTimes(index)) return claim;
    const times = Buffer.alloc(16);
    traces.writeFirstNs(index, times, 0);
    traces.writeLastNs(index, times, 8);
    return { ...claim, firstNs: times.readBigUInt64BE(0), lastNs: times.readBigUInt64BE(8) };
  });
}
