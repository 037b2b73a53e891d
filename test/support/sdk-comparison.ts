/** Compares the recordings of an SDK with the stored rows of one service and signal, field by field. */
import type { Test } from 'tap';
import { comparable, type ExpectedRow } from './sdk-rows.ts';

type Row = Readonly<Record<string, unknown>>;

/** The stores in which rows are read. */
export interface Store {
  query(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** All rows of the file, if there is one. */
  rows?(): Promise<readonly Row[]>;
}

export const VIEWS = { span: 'spans', log: 'logs', metric: 'metric_points' } as const;
export type RecordKind = keyof typeof VIEWS;

/** The stored rows of one service and signal. */
export async function stored(
  store: Store,
  signal: RecordKind,
  service: string,
): Promise<Record<string, readonly Row[]>> {
  const postgres = await store.query(`SELECT * FROM public.${VIEWS[signal]} WHERE service_name = $1`, [service]);
  if (store.rows === undefined) return { postgres };
  const file = (await store.rows()).filter((row) => row['signal'] === signal && row['service_name'] === service);
  return { postgres, file };
}

/** Rows have no order. These fields together identify a record. */
const identityOf = (row: Row): string =>
  JSON.stringify([row['span_id'], row['name'], row['event_name'], row['severity_number'], sorted(row['attributes'])]);
const sorted = (value: unknown): unknown => Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
const inOrder = <T extends Row>(rows: readonly T[]): T[] =>
  [...rows].sort((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));

export interface Expectation {
  readonly store: Store;
  readonly signal: RecordKind;
  readonly service: string;
  readonly recorded: readonly ExpectedRow[];
}

export async function compare(t: Test, { store, signal, service, recorded }: Expectation): Promise<void> {
  const expected = inOrder(recorded);
  for (const [sink, rows] of Object.entries(await stored(store, signal, service))) {
    t.equal(rows.length, expected.length, `${sink} holds every ${signal} once`);
    for (const [at, row] of inOrder(rows).entries()) {
      const wanted = expected[at] ?? {};
      t.strictSame(comparable(row, wanted), wanted, `${sink}: ${String(wanted['name'] ?? wanted['body'] ?? signal)}`);
    }
  }
}
