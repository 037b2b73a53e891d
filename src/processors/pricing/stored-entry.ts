/**
 * Price entries as somebody stored them: nothing is known of them, so they are checked as the options of the
 * configuration are.
 */
import { Ajv, type ValidateFunction } from 'ajv';
import { expressionFault } from '../../component/expression.ts';
import type { PriceEntry } from './options.ts';
import { PRICE_ENTRIES_SCHEMA } from './options-schema.ts';
import type { PricingProblem } from './price-entry.ts';

/** Made by whoever reads stored entries, and kept: compiling the schema takes longer than all checks. */
export class StoredEntries {
  readonly #check: ValidateFunction = new Ajv({
    allowUnionTypes: true,
    strictTypes: false,
    formats: { re2: (text: string) => expressionFault(text) === null },
  }).compile(PRICE_ENTRIES_SCHEMA.items);

  /** The entry, or its first mistake. It must say the id that it is stored under. */
  read(id: string, entry: unknown): PriceEntry | PricingProblem {
    if (!this.#check(entry)) {
      const [error] = this.#check.errors ?? [];
      return { path: pathOf(error?.instancePath ?? ''), message: error?.message ?? 'is not as it should be' };
    }
    const read = entry as PriceEntry;
    return read.id === id ? read : { path: 'id', message: `says ${JSON.stringify(read.id)}` };
  }
}

export const isProblem = (read: PriceEntry | PricingProblem): read is PricingProblem => 'message' in read;

/** As paths are written elsewhere: `/prices/0/rates` is `prices[0].rates`. */
const pathOf = (pointer: string): string =>
  pointer
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replace(/^\//, '')
    .replaceAll('/', '.');
