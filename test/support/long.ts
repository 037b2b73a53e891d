/**
 * Long tests: exhaustive ones, and those with many faults, servers or rows. `npm test` leaves them out.
 * `node scripts/test.js --long` runs the files that have one, and so does `.ci/run`. These files also have ordinary
 * tests: the main path and the most important fault.
 */
import t, { type Test } from 'tap';

/** `scripts/test.js --long` sets it for the test files. */
const LONG_VARIABLE = 'SLUICE_LONG_TESTS';
/** For tests that are ordinary with few cases, and long with all. */
export const isLong = process.env[LONG_VARIABLE] === 'yes';
/** An ordinary run tries this part of the random cases of a property. */
const ORDINARY_PART = 0.1;

/** The number of random cases of a property that has many. */
export const cases = (count: number): number => (isLong ? count : Math.ceil(count * ORDINARY_PART));

type Run = (t: Test) => Promise<unknown>;
type Options = { readonly skip?: string | boolean };

/** A test at the top level of its file that only a long run has. */
export function longTest(name: string, ...rest: readonly [Run] | readonly [Options, Run]): void {
  if (!isLong) return;
  if (rest.length === 1) void t.test(name, rest[0]);
  else void t.test(name, { ...rest[0] }, rest[1]);
}

/** A test that every run has, where the other cases of a loop are long tests. */
export function ordinaryTest(name: string, run: Run): void {
  void t.test(name, run);
}
