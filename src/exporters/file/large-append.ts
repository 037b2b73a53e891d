/** An append that is written in parts, with appends of other requests in between. */

/** Bytes `from` to `to` of the file. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export class LargeAppend {
  readonly parts: readonly (readonly Buffer[])[];
  /** The parts in the file, in order. */
  ranges: readonly Range[] = [];
  /** Set when its parts were removed from the file: the others must not be written. */
  failure: Error | null = null;

  constructor(parts: readonly (readonly Buffer[])[]) {
    this.parts = parts;
  }

  get bytes(): number {
    return this.parts.reduce((sum, part) => sum + bytesOf(part), 0);
  }
}

export const bytesOf = (chunks: readonly Buffer[]): number => chunks.reduce((sum, { length }) => sum + length, 0);

/** A chunk holds complete lines, so it is never divided. */
export function partsOf(chunks: readonly Buffer[], partBytes: number): readonly (readonly Buffer[])[] {
  const parts: Buffer[][] = [];
  let part: Buffer[] = [];
  let bytes = 0;
  for (const chunk of chunks) {
    part.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    parts.push(part);
    part = [];
    bytes = 0;
  }
  return part.length === 0 ? parts : [...parts, part];
}
