/** Options of commands that write the lake. */
import { parseByteSize, parseDuration } from '../../config/units.ts';
import { textOption, UsageError, type Values } from '../options.ts';
import { formatBytes } from '../view/format.ts';

/** Below this DuckDB cannot sort rows of several mebibytes. */
const LEAST_MEMORY = 256 * 2 ** 20;

/** The options that have the same words in each command. */
export const WORK_OPTIONS = {
  keep: textOption('DURATION', 'Remove files of days that ended this long ago', {
    otherwise: 'as configured, else never',
  }),
  memory: textOption('SIZE', 'Memory for sorting; the rest is in files', { otherwise: 'as configured, else 1GiB' }),
};

/** Milliseconds; undefined when the option is not given. */
export function durationOf(values: Values, option: 'older-than' | 'keep'): number | undefined {
  const text = values.text(option);
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--${option} takes a duration, not "${text}"`, 'as 36h or 7d');
  return ms;
}

/** Bytes; undefined when the option is not given. */
export function memoryOf(values: Values): number | undefined {
  const text = values.text('memory');
  if (text === undefined) return undefined;
  const bytes = parseByteSize(text);
  if (bytes === null || bytes < LEAST_MEMORY)
    throw new UsageError(`--memory takes a size of at least ${formatBytes(LEAST_MEMORY)}, not "${text}"`, 'as 2GiB');
  return bytes;
}
