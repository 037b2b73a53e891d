/** The times of a client's outcomes, and their cells in a table. */
import type { Outcome } from '../src/cli/bench/client.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';

/** Milliseconds of the requests with this status. */
export const timesOf = (outcomes: readonly Outcome[], wanted: number): readonly number[] =>
  outcomes.filter(({ status }) => status === wanted).map(({ ms }) => ms);

/** A cell: this quantile of the times, in whole milliseconds; a dash without any. */
export const quantileCell = (times: readonly number[], part: number): string =>
  times.length === 0 ? '–' : `${grouped(quantile(times, part))} ms`;
