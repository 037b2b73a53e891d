/** What the requests of Grafana have in common: the range of time in seconds, limits, and the query. */
import { LATEST_NS } from '../../../component/moment.ts';
import { END_NS, integerOf, type Range, refusingFilters } from '../api/question.ts';
import { ConsoleError } from '../errors.ts';
import type { RequestContext } from '../server/route.ts';
import { SECOND_NS } from '../../../pdata/time-units.ts';

const SECONDS = /^(\d{1,10})(?:\.\d{1,9})?$/u;

/** The parameters `start` and `end`, both in seconds. Without them the range has no limits. */
export function rangeOf({ query }: RequestContext): Range {
  const from = secondsOf(query.get('start'), 'start') ?? 0n;
  const end = secondsOf(query.get('end'), 'end');
  // The second of the end belongs to the range.
  const until = end === null ? END_NS : (end / SECOND_NS + 1n) * SECOND_NS;
  if (from >= until) throw new ConsoleError('range_invalid', { message: '`start` must be before `end`.' });
  return { from, until: until > END_NS ? END_NS : until };
}

function secondsOf(text: string | null, name: string): bigint | null {
  if (text === null || text === '' || text === '0') return null;
  const whole = SECONDS.exec(text)?.[1];
  if (whole === undefined)
    throw new ConsoleError('range_invalid', { message: `\`${name}\` is a time in seconds since 1970.` });
  const ns = BigInt(whole) * SECOND_NS;
  return ns > LATEST_NS ? LATEST_NS : ns;
}

export const numberOf = ({ query }: RequestContext, name: string, byDefault: number, highest: number): number =>
  // Grafana asks for more than is answered.
  Math.min(integerOf(query.get(name), { name, byDefault, lowest: 0, highest: 1_000_000 }) || byDefault, highest);

/** With the place of the fault as clients of Tempo show it, from 1 on. */
export function refusingQueries<T>(text: string, work: () => T): T {
  return refusingFilters(work, ({ message, at }) => {
    const before = text.slice(0, at).split('\n');
    return `parse error at line ${before.length}, col ${(before.at(-1) ?? '').length + 1}: ${message}`;
  });
}
