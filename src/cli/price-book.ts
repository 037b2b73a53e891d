/** The prices of a configuration, for commands that show them. */
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import type { PricingOptions } from '../processors/pricing/options.ts';
import { PriceBook } from '../processors/pricing/price-book.ts';
import { PricingOptionsError } from '../processors/pricing/price-entry.ts';
import type { Call } from './command.ts';

/** The shipped prices when the configuration has no pricing processor. */
export function pricingOptionsOf(config: Config): PricingOptions {
  const found = [...config.processors.values()].find(({ definition }) => definition.type === 'pricing');
  return (found?.options ?? {}) as PricingOptions;
}

export async function loadBook({ process }: Call, options: PricingOptions): Promise<PriceBook> {
  const { catalogue } = options;
  const isPath = catalogue !== undefined && catalogue !== 'bundled' && catalogue !== 'none';
  try {
    return await PriceBook.load(isPath ? { ...options, catalogue: resolve(process.cwd(), catalogue) } : options);
  } catch (error) {
    if (!(error instanceof PricingOptionsError)) throw error;
    throw new UserError(`the pricing options are invalid: ${error.message}`, 'See `sluice validate`.');
  }
}
