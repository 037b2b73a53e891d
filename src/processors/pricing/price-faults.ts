/** Mistakes in prices that the schema admits, for `sluice validate`. */
import type { CheckPlace, OptionFault } from '../../component/component.ts';
import type { PricingOptions } from './options.ts';
import { PriceBook } from './price-book.ts';
import { PricingOptionsError } from './price-entry.ts';

/** Loading the price lists takes some 100 ms, so they are loaded only for options that can be wrong. */
export async function priceFaults(
  options: PricingOptions,
  { name, resolvePath }: CheckPlace,
): Promise<readonly OptionFault[]> {
  const { enabled = true, catalogue = 'bundled', overrides = [] } = options;
  const isFile = !['bundled', 'none'].includes(catalogue);
  if (!enabled || (overrides.length === 0 && !isFile)) return [];
  try {
    await PriceBook.load(isFile ? { ...options, catalogue: resolvePath(catalogue) } : options);
    return [];
  } catch (error) {
    if (!(error instanceof PricingOptionsError)) throw error;
    return error.problems.map(({ path, message }) => ({
      option: optionOf(path),
      severity: 'error',
      message: `${name}.${path}: ${message}`,
      hint: null,
    }));
  }
}

/** `overrides[2].match` as steps. */
const optionOf = (path: string): readonly (string | number)[] =>
  [...path.matchAll(/\[(\d+)\]|[^.[\]]+/gu)].map(([name, index]) => (index === undefined ? name : Number(index)));
