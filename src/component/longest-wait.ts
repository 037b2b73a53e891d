/**
 * The longest delay of a timer. Node.js fires longer timers at once, so the options that set timers have this maximum.
 */
import { DAY_MS } from '../pdata/time-units.ts';

/** In milliseconds: the whole days below 2³¹ ms. */
export const LONGEST_WAIT_MS = 24 * DAY_MS;

/** The schema of an option that sets a timer. `minimum` is in milliseconds. */
export const timerOption = (minimum: number, byDefault: string, description: string) => ({
  type: 'integer',
  format: 'duration',
  minimum,
  maximum: LONGEST_WAIT_MS,
  default: byDefault,
  description,
});
