/** Own prices where they are stored. The `postgres` extension offers them; the `pricing` processor reads them ahead of its passes. */
import type { Capability } from './capability.ts';

export interface StoredPrice {
  readonly id: string;
  /** Null: for every project. */
  readonly project: string | null;
  /** An entry of the pricing processor's `overrides`, as somebody stored it: not checked. */
  readonly entry: unknown;
}

export interface PriceDirectory {
  /** In the order in which they count: the last one stored first. Rejects when they can not be read. */
  readPrices(): Promise<readonly StoredPrice[]>;
  /** Calls back when prices changed; returns how to stop. Missing it is safe: what was read grows old. */
  onChange(changed: () => void): () => void;
}

export const PRICE_DIRECTORY: Capability<PriceDirectory> = { name: 'price-directory' };
