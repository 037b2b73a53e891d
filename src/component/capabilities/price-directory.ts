/**
 * Stored own prices. The `postgres` extension offers them; the `pricing` processor reads them before its passes.
 */
import type { Capability } from './capability.ts';

export interface StoredPrice {
  readonly id: string;
  /** Null: for every project. */
  readonly project: string | null;
  /** An entry of the pricing processor's `overrides` as it was stored, unchecked. */
  readonly entry: unknown;
}

export interface PriceDirectory {
  /** In order of precedence: the price stored last comes first. Rejects when they cannot be read. */
  readPrices(): Promise<readonly StoredPrice[]>;
  /** Calls back when prices changed; returns a function that ends it. A missed call only delays a change. */
  onChange(changed: () => void): () => void;
}

export const PRICE_DIRECTORY: Capability<PriceDirectory> = { name: 'price-directory' };
