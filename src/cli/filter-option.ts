/** The option `--filter`: the console's filter language on the command line. */
import { compileFilter } from '../extensions/console/filter/compile.ts';
import { sumsWithin } from '../extensions/console/filter/fields.ts';
import { FilterError } from '../extensions/console/filter/filter.ts';
import { Parameters } from '../extensions/console/filter/parameters.ts';
import { parseFilter } from '../extensions/console/filter/parse.ts';
import { hasSpan } from '../extensions/console/filter/trace-spans.ts';
import { textOption, UsageError, type Values } from './options.ts';

export const FILTER_OPTION = {
  filter: textOption('FILTER', 'Only traces that match, such as "model:gpt-5* cost:>0.05 error"'),
};

/** Conditions on a trace `t`. The values are added to those of the statement. `within`: that of `spansOf`. */
export function filterConditions(
  values: Values,
  taken: unknown[],
  views: string,
  within = '',
  logsSince?: string,
): readonly string[] {
  const text = values.text('filter');
  if (text === undefined) return [];
  try {
    const parameters = new Parameters(taken);
    const options = { target: 'span', seesContent: true, views, parameters } as const;
    const { trace, row, sums, implied } = compileFilter(parseFilter(text), options);
    const ofTrace = sumsWithin([...implied, ...sums], within, logsSince);
    return [...trace, ...(row.length === 0 ? [] : [hasSpan(row.join(' AND '), within)]), ...ofTrace];
  } catch (error) {
    throw filterFault(error);
  }
}

/** A fault of the filter is one of the command line. */
export function filterFault(error: unknown): unknown {
  if (!(error instanceof FilterError)) return error;
  const { message, at, hint } = error;
  return new UsageError(`--filter, at character ${at + 1}: ${message}`, hint === null ? null : `Try: ${hint}`);
}
