/** What the encoded rows of one request may take in the form of one exporter. */
export interface RowRoom {
  /** How many bytes more the rows may have at most. */
  readonly left: number;
  /** To be called before rows are kept. Throws a `Rejection` when there is no room for so many bytes. */
  reserve(bytes: number): void;
}

/** For batches that no pipeline made: only the capacity of the output bounds their rows. */
export const UNBOUNDED: RowRoom = { left: Number.MAX_SAFE_INTEGER, reserve: () => undefined };
