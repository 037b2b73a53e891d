/** The limit of one request's encoded rows in the format of one exporter. */
export interface RowRoom {
  /** The bytes that may still be added. */
  readonly left: number;
  /** Called before rows are kept. Throws a `Rejection` when there is no room for this many bytes. */
  reserve(bytes: number): void;
}

/** For batches without a pipeline: only the capacity of the output limits their rows. */
export const UNBOUNDED: RowRoom = { left: Number.MAX_SAFE_INTEGER, reserve: () => undefined };
