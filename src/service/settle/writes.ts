/**
 * Writes the rows that a ledger admitted: first with the exporters that join its transaction and can be rolled back,
 * then, after the transaction is flushed, with the others.
 */
import type { Exporter, Rows } from '../../component/exporter.ts';
import type { TransactionHandle } from '../../component/capabilities/ledger.ts';

/** A request's rows in one exporter's format. */
export interface ExporterRows {
  readonly exporter: Exporter;
  readonly rows: Rows;
  /** The reserved bytes of the rows, released with them. */
  readonly room?: { close(): void };
}

/** Rows of more bytes are written beside other writes, by exporters that divide them. */
const LARGE_BYTES = 8388608;

/** Must be called exactly once, after the request is answered. */
export function releaseRows(encoded: readonly ExporterRows[]): void {
  for (const { rows, room } of encoded) {
    rows.release();
    room?.close();
  }
}

export class ExporterWrites {
  /** The last write of exporters that cannot be rolled back. The next one waits for it. */
  #last: Promise<unknown> = Promise.resolve();

  /** `encoded`: the rows of the admitted requests of a group. Rejects when one of the writes fails. */
  async write(encoded: readonly (readonly ExporterRows[])[], handle: TransactionHandle): Promise<void> {
    const writers = [...rowsByExporter(encoded)];
    for (const [exporter, rows] of writers.filter(([{ transactional }]) => transactional === true))
      await exporter.write(rows, handle);
    const others = writers.filter(([{ transactional }]) => transactional !== true);
    if (others.length === 0) return;
    await handle.flush();
    const large = others.filter(([{ dividesWrites }, rows]) => dividesWrites === true && bytesOf(rows) > LARGE_BYTES);
    const whole = others.filter((writer) => !large.includes(writer));
    if (whole.length > 0) await this.#inTurn(() => writeTogether(whole, handle));
    if (large.length > 0) await writeTogether(large, handle);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

const bytesOf = (group: readonly Rows[]): number => group.reduce((sum, { bytes }) => sum + bytes, 0);

function rowsByExporter(encoded: readonly (readonly ExporterRows[])[]): ReadonlyMap<Exporter, readonly Rows[]> {
  const byExporter = new Map<Exporter, Rows[]>();
  for (const { exporter, rows } of encoded.flat()) {
    const list = byExporter.get(exporter);
    if (list === undefined) byExporter.set(exporter, [rows]);
    else list.push(rows);
  }
  return byExporter;
}

/** Waits for all writes even when one fails, so that none is running when the ledger rolls back or retries. */
async function writeTogether(
  writers: readonly (readonly [Exporter, readonly Rows[]])[],
  handle: TransactionHandle,
): Promise<void> {
  const results = await Promise.allSettled(writers.map(([exporter, rows]) => exporter.write(rows, handle)));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
}
