/** What the requests of the reading API have in common: range of time, limit, filter, ids. */
import { LATEST_NS } from '../../../component/moment.ts';
import { ConsoleError } from '../errors.ts';
import { compileFilter, type Conditions } from '../filter/compile.ts';
import type { Target } from '../filter/fields.ts';
import { type Filter, FilterError } from '../filter/filter.ts';
import type { Parameters } from '../filter/parameters.ts';
import { readTime, TIME_FORMS } from '../filter/moment.ts';
import { parseFilter } from '../filter/parse.ts';
import { isDuration, nanosecondsOf } from '../filter/values.ts';
import type { RequestContext } from '../server/route.ts';
import { normalizeEnvironment } from '../../../pdata/environment.ts';
import { MS_NS } from '../../../pdata/time-units.ts';

/** The end of a range without a limit. No column holds it, so statements compare with the time before an end. */
export const END_NS = LATEST_NS + 1n;
/** A list is read in slices. After this time no further slice is begun. */
export const ENOUGH_MS = 1500;
/** Points of one series over time, at most and without a parameter. */
const MAX_POINTS = 1000n;
const USUAL_POINTS = 60n;
/** Longer names are no environment. */
const MAX_NAME = 512;

/** `from` belongs to the range, `until` does not. */
export interface Range {
  readonly from: bigint;
  readonly until: bigint;
}

/** The parameters `from` and `to`, as `readTime` reads them. Without them the range has no limits. */
export function rangeOf(context: RequestContext): Range {
  const nowNs = BigInt(context.now()) * MS_NS;
  const from = timeOf(context, 'from', nowNs) ?? 0n;
  const until = timeOf(context, 'to', nowNs) ?? END_NS;
  if (from >= until) throw new ConsoleError('range_invalid', { message: '`from` must be before `to`.' });
  return { from, until };
}

/** A range up to now may be this much longer than allowed. */
const LATE_NS = 300_000_000_000n;

/** As `rangeOf`, for requests whose cost grows with the range. */
export function boundedRangeOf(
  context: RequestContext,
  { days, defaultMs }: { readonly days: number; readonly defaultMs: number },
): Range {
  const nowNs = BigInt(context.now()) * MS_NS;
  const end = timeOf(context, 'to', nowNs) ?? nowNs;
  const until = end === END_NS ? LATEST_NS : end;
  const usual = until - BigInt(defaultMs) * MS_NS;
  const from = timeOf(context, 'from', nowNs) ?? (usual > 0n ? usual : 0n);
  if (from >= until) throw new ConsoleError('range_invalid', { message: '`from` must be before `to`.' });
  const longest = nanosecondsOf(`${days}d`);
  if (until - from <= longest) return { from, until };
  // The caller has subtracted the days from its own clock, a moment ago.
  if (until === nowNs && until - from <= longest + LATE_NS) return { from: until - longest, until };
  const most = days === 1 ? '1 day' : `${days} days`;
  throw new ConsoleError('range_invalid', { message: `\`from\` and \`to\` can be at most ${most} apart here.` });
}

/** A time that no column holds is the nearest one of a range. */
function timeOf({ query }: RequestContext, name: string, nowNs: bigint): bigint | null {
  const text = query.get(name) ?? '';
  if (text === '') return null;
  const ns = readTime(text, nowNs);
  if (ns !== null) return ns < 0n ? 0n : ns > END_NS ? END_NS : ns;
  throw new ConsoleError('range_invalid', { message: `\`${name}\` is no time.`, hint: `As ${TIME_FORMS}.` });
}

/** The parameter `interval`; without it the first of the usual ones that gives few points. */
export function intervalOf({ query }: RequestContext, { from, until }: Range, usual: readonly string[]): string {
  const text = query.get('interval') ?? '';
  const fitting = usual.find((each) => (until - from) / nanosecondsOf(each) <= USUAL_POINTS) ?? usual.at(-1) ?? '1d';
  if (text === '') return fitting;
  const ns = isDuration(text) ? nanosecondsOf(text) : 0n;
  if (ns === 0n)
    throw new ConsoleError('range_invalid', { message: '`interval` is no length of time.', hint: 'As 10m, 1h or 7d.' });
  if (ns <= LATEST_NS && (until - from) / ns <= MAX_POINTS) return text;
  throw new ConsoleError('range_invalid', { message: '`interval` cannot be used with this range.', hint: fitting });
}

/** The parameter `limit`. */
export function limitOf({ query }: RequestContext, byDefault: number, highest: number): number {
  return integerOf(query.get('limit'), { name: 'limit', byDefault, lowest: 1, highest });
}

export interface IntegerRule {
  readonly name: string;
  readonly byDefault: number;
  readonly lowest: number;
  readonly highest: number;
}

export function integerOf(text: string | null, { name, byDefault, lowest, highest }: IntegerRule): number {
  if (text === null || text === '') return byDefault;
  const value = /^\d{1,10}$/u.test(text) ? Number(text) : -1;
  if (value >= lowest && value <= highest) return value;
  throw new ConsoleError('request_invalid', { message: `\`${name}\` is an integer from ${lowest} to ${highest}.` });
}

/** One of the words; without the parameter the first. */
export function wordOf<Word extends string>(
  { query }: RequestContext,
  name: string,
  words: readonly [Word, ...Word[]],
): Word {
  const text = query.get(name) ?? '';
  if (text === '') return words[0];
  const word = words.find((each) => each === text);
  if (word !== undefined) return word;
  throw new ConsoleError('request_invalid', { message: `\`${name}\` is one of: ${words.join(', ')}.` });
}

/** The parameter `q` as conditions. */
export function conditionsOf(context: RequestContext, target: Target, parameters: Parameters): Conditions {
  const { caller, query, reader } = context;
  return refusingFilters(() => {
    const filter: Filter = parseFilter(query.get('q') ?? '');
    const options = { target, seesContent: caller.seesContent, views: reader.views, parameters };
    return parameters.allOrNone(() => compileFilter(filter, options));
  });
}

/** A fault of a filter refuses the request. `describe`: the message for clients of another API. */
export function refusingFilters<T>(work: () => T, describe = ({ message }: FilterError): string => message): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const { at, hint } = error;
    throw new ConsoleError('filter_invalid', { message: describe(error), at, ...(hint === null ? {} : { hint }) });
  }
}

/** The parameter `env`: names of environments, separated by commas; null: all. */
export function environmentsOf({ query }: RequestContext): readonly string[] | null {
  const text = query.get('env') ?? '';
  return text === '' ? null : text.split(',').map((name) => normalizeEnvironment(name).slice(0, MAX_NAME));
}

/** The condition of the parameter `env`, if it is given. */
export function environmentCondition(
  context: RequestContext,
  column: string,
  parameters: Parameters,
): readonly string[] {
  const names = environmentsOf(context);
  return names === null ? [] : [`${column} = ANY (${parameters.add(names)}::text[])`];
}

/** The path parameter `{trace}`. A text that is no id belongs to no trace. */
export const traceIdOf = (context: RequestContext): Buffer => idOf(context.parameter('trace'), 16);
export const spanIdOf = (context: RequestContext): Buffer => idOf(context.parameter('span'), 8);

export function idOf(text: string, bytes: number): Buffer {
  if (text.length !== 2 * bytes || !/^[0-9a-f]+$/iu.test(text)) throw new ConsoleError('not_found');
  return Buffer.from(text, 'hex');
}

export const allOf = (conditions: readonly string[]): string =>
  conditions.length === 0 ? 'true' : conditions.join('\n    AND ');
