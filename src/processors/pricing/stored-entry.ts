/**
 * Price entries of the database: they are checked like the options of the configuration.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { expressionFault } from '../../component/expression.ts';
import type { PriceEntry } from './options.ts';
import { PRICE_ENTRIES_SCHEMA } from './options-schema.ts';
import type { PricingProblem } from './price-entry.ts';

/** Create it once: compiling the schema takes longer than all checks. */
export class StoredEntries {
  readonly #check: ValidateFunction = new Ajv({
    allowUnionTypes: true,
    strictTypes: false,
    formats: { re2: (text: string) => expressionFault(text) === null },
  }).compile(PRICE_ENTRIES_SCHEMA.items);

  /** The entry, or its first mistake. Its `id` must be the one under which it is stored. */
  read(id: string, entry: unknown): PriceEntry | PricingProblem {
    if (!this.#check(entry)) {
      const [error] = this.#check.errors ?? [];
      return {
        path: pathOf(error?.instancePath ?? ''),
        message: error === undefined ? 'is not valid' : wordsFor(error),
      };
    }
    const read = entry as PriceEntry;
    return read.id === id ? read : { path: 'id', message: `says ${JSON.stringify(read.id)}` };
  }
}

export const isProblem = (read: PriceEntry | PricingProblem): read is PricingProblem => 'message' in read;

/** In the words of configuration errors. */
function wordsFor({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'additionalProperties') return `has the unknown option "${params['additionalProperty']}"`;
  if (keyword === 'required') return `lacks the option "${params['missingProperty']}"`;
  if (keyword === 'enum') return `must be one of ${params['allowedValues'].join(', ')}`;
  return message ?? 'is not valid';
}

/** In the path notation of configuration errors: `/prices/0/rates` is `prices[0].rates`. */
const pathOf = (pointer: string): string =>
  pointer
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replace(/^\//, '')
    .replaceAll('/', '.');
