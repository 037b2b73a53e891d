/**
 * How much of a table memory has been written. Pages of a WebAssembly memory stay resident once they are written, so
 * each region counts with the largest part that any request used.
 */
import type { Tables } from './tables.ts';
import * as layout from './layout.ts';

/** The header that counts the rows of a region, and the bytes of one row. */
type Region = readonly [count: number, stride: number];
const REGIONS: readonly Region[] = [
  [layout.HEADER_INPUT_LENGTH, 1],
  [layout.HEADER_RECORDS, layout.RECORD_STRIDE],
  [layout.HEADER_ATTRIBUTES, layout.ATTRIBUTE_STRIDE],
  [layout.HEADER_EVENTS, layout.EVENT_STRIDE],
  [layout.HEADER_LINKS, layout.LINK_STRIDE],
  [layout.HEADER_RESOURCES, layout.RESOURCE_STRIDE],
  [layout.HEADER_SCOPES, layout.SCOPE_STRIDE],
  [layout.HEADER_METRICS, layout.METRIC_STRIDE],
  [layout.HEADER_POINTS, layout.POINT_STRIDE],
  [layout.HEADER_NUMBERS, layout.NUMBER_STRIDE],
  [layout.HEADER_DERIVED, layout.DERIVED_STRIDE],
  [layout.HEADER_REFERENCES, layout.REFERENCE_STRIDE],
  [layout.HEADER_OUTPUT_LENGTH, 1],
];

export class TableUsage {
  readonly #most = new Array<number>(REGIONS.length).fill(0);
  #mostScratch = 0;

  /** Called after each request, before the tables are reset. */
  note(tables: Tables): void {
    for (let index = 0; index < REGIONS.length; index++) {
      const [count, stride] = REGIONS[index] as Region;
      this.#most[index] = Math.max(this.#most[index] as number, tables.header(count) * stride);
    }
    this.#mostScratch = Math.max(this.#mostScratch, tables.header(layout.HEADER_SCRATCH) - layout.SCRATCH_BASE);
  }

  /** The approximate number of resident bytes: scratch that was freed within a request does not count. */
  get bytes(): number {
    return this.#most.reduce((sum, bytes) => sum + bytes, this.#mostScratch);
  }
}
