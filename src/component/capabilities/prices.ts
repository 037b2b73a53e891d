/** The prices in force, for those who show them. The `pricing` processor offers them. */
import type { Capability } from './capability.ts';

/** The price of a model for small prompts in the standard tier of service. */
export interface ModelPrice {
  /** The list: `stored`, `user` for the configuration, `supplement`, `genai-prices`, or `file:` with its name. */
  readonly source: string;
  readonly version: string;
  /** The id of the entry in its list. */
  readonly entry: string;
  /** Null: always. */
  readonly effectiveFrom: string | null;
  /** What the entry states as its own source. */
  readonly evidence: string | null;
  /** USD per million tokens by kind of token, as decimal strings. */
  readonly rates: Readonly<Partial<Record<string, string>>>;
}

export interface Prices {
  /** The price of a call that begins now; null: there is none. */
  find(project: string, provider: string | null, model: string): ModelPrice | null;
}

export const PRICES: Capability<Prices> = { name: 'prices' };
