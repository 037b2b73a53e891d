/**
 * How much of a table memory has been written. Pages of a WebAssembly memory stay resident once they are written, so
 * each region counts with the largest part that any request used.
 */
import type { Tables } from './batch.ts';
import {
  ATTRIBUTE_STRIDE,
  DERIVED_STRIDE,
  EVENT_STRIDE,
  HEADER_ATTRIBUTES,
  HEADER_DERIVED,
  HEADER_EVENTS,
  HEADER_INPUT_LENGTH,
  HEADER_LINKS,
  HEADER_METRICS,
  HEADER_NUMBERS,
  HEADER_OUTPUT_LENGTH,
  HEADER_POINTS,
  HEADER_RECORDS,
  HEADER_REFERENCES,
  HEADER_RESOURCES,
  HEADER_SCOPES,
  HEADER_SCRATCH,
  LINK_STRIDE,
  METRIC_STRIDE,
  NUMBER_STRIDE,
  POINT_STRIDE,
  RECORD_STRIDE,
  REFERENCE_STRIDE,
  RESOURCE_STRIDE,
  SCOPE_STRIDE,
  SCRATCH_BASE,
} from './layout.ts';

/** The header that counts the rows of a region, and the bytes of one row. */
const REGIONS: readonly (readonly [count: number, stride: number])[] = [
  [HEADER_INPUT_LENGTH, 1],
  [HEADER_RECORDS, RECORD_STRIDE],
  [HEADER_ATTRIBUTES, ATTRIBUTE_STRIDE],
  [HEADER_EVENTS, EVENT_STRIDE],
  [HEADER_LINKS, LINK_STRIDE],
  [HEADER_RESOURCES, RESOURCE_STRIDE],
  [HEADER_SCOPES, SCOPE_STRIDE],
  [HEADER_METRICS, METRIC_STRIDE],
  [HEADER_POINTS, POINT_STRIDE],
  [HEADER_NUMBERS, NUMBER_STRIDE],
  [HEADER_DERIVED, DERIVED_STRIDE],
  [HEADER_REFERENCES, REFERENCE_STRIDE],
  [HEADER_OUTPUT_LENGTH, 1],
];

export class TableUsage {
  readonly #most = new Array<number>(REGIONS.length).fill(0);
  #mostScratch = 0;

  /** Called after each request, before the tables are reset. */
  note(tables: Tables): void {
    for (const [index, [count, stride]] of REGIONS.entries())
      this.#most[index] = Math.max(this.#most[index] as number, tables.header(count) * stride);
    this.#mostScratch = Math.max(this.#mostScratch, tables.header(HEADER_SCRATCH) - SCRATCH_BASE);
  }

  /** The approximate number of resident bytes: scratch that was freed within a request does not count. */
  get bytes(): number {
    return this.#most.reduce((sum, bytes) => sum + bytes, this.#mostScratch);
  }
}
