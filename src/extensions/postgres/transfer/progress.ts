/** The progress of a copy, reported after each block. */
export interface Progress {
  /** The table or partition. */
  readonly unit: string;
  /** Rows of complete units and of the current one, as far as they are known. */
  readonly rows: number;
  readonly bytes: number;
  /** From 0 to 1, estimated from sizes on disk or exact from the position in a file; null when unknown. */
  readonly share: number | null;
}

export type Report = (progress: Progress) => void;

export async function* watched(blocks: AsyncIterable<Buffer>, look: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    look(block.length);
    yield block;
  }
}
