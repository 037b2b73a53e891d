/**
 * The cases of the proxy scenario: every message of an ingest transaction with every fault, every statement with every
 * SQLSTATE.
 */
import type { Fault, Rule } from '../proxy/fault.ts';
import { nameOfFault } from '../proxy/fault.ts';
import { nameOfMessage, type Side } from '../proxy/messages.ts';

export interface ProxyCase {
  readonly name: string;
  readonly rule: Rule;
  /** The daemon notices the fault by its own deadline only, after half a minute. */
  readonly slow: boolean;
}

/** A message of the observed transaction. */
export interface Boundary {
  readonly side: Side;
  readonly kind: string;
  readonly text: string;
  readonly position: number;
}

const QUICK_FAULTS: readonly Fault[] = [
  { kind: 'cut', where: 'before' },
  { kind: 'cut', where: 'inside' },
  { kind: 'cut', where: 'after' },
  { kind: 'half_close' },
  { kind: 'delay', ms: 300 },
  { kind: 'late', ms: 200 },
];

/** Longer than the daemon's deadline, so that the reply arrives after its request has ended. */
const SLOW_FAULTS: readonly Fault[] = [{ kind: 'black_hole' }, { kind: 'delay', ms: 36000 }];

/** Errors that a server may return for a correct statement. */
const SQLSTATES = ['40001', '40P01', '55P03', '57014', '53100', '53200', '57P01', '25006', '58030', 'XX000'] as const;

export function gridOf(boundaries: readonly Boundary[]): readonly ProxyCase[] {
  const network = boundaries.flatMap((boundary) => [
    ...QUICK_FAULTS.filter((fault) => fault.kind !== 'late' || boundary.side === 'frontend').map((fault) =>
      atBoundary(boundary, fault, false),
    ),
    ...SLOW_FAULTS.map((fault) => atBoundary(boundary, fault, true)),
  ]);
  const statements = boundaries.filter(
    ({ side, kind }) => side === 'frontend' && (kind === 'Query' || kind === 'Execute'),
  );
  const states = statements.flatMap((boundary) =>
    SQLSTATES.map((sqlstate) => atBoundary(boundary, { kind: 'error', sqlstate }, false)),
  );
  return [...network, ...states];
}

function atBoundary({ side, kind, text, position }: Boundary, fault: Fault, slow: boolean): ProxyCase {
  const name = `${nameOfFault(fault)} at ${nameOfMessage({ side, kind, text })}`;
  return { name, rule: { side, position, fault }, slow };
}
