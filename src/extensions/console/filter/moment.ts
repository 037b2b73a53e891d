/** A time as people write it in a query of the API and in an option of the command line. */
import { parseInstant, parseMoment } from '../../../component/moment.ts';
import { MS_NS } from '../../../pdata/time-units.ts';
import { isDuration, nanosecondsOf } from './values.ts';

/** Completes "as …". */
export const TIME_FORMS =
  '12h or -12h for a time ago, 2026-11-20, 2026-11-20T14:05Z, 2026-11-20T14:05:09.5+01:00, now, or nanoseconds since 1970';
/** A date begins in UTC. A time of a day needs its zone, because that of the reader is not known everywhere. */
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/iu;

/** Unix nanoseconds, also of a time that no column can hold; null for another text. */
export function readTime(text: string, nowNs: bigint): bigint | null {
  if (/^\d{1,19}$/u.test(text)) return BigInt(text);
  if (text === 'now') return nowNs;
  const length = text.replace(/^-/u, '');
  if (isDuration(length)) return nowNs - nanosecondsOf(length);
  if (!DATE.test(text)) return null;
  const ms = parseMoment(text);
  return parseInstant(text) ?? (Number.isNaN(ms) ? null : BigInt(ms) * MS_NS);
}
