import fc from 'fast-check';
import t from 'tap';
import {
  MAX_RETRY_AFTER_MS,
  nextAttempt,
  parseRetryAfter,
  type RetryOptions,
} from '../../../src/exporters/otlp-http/retry.ts';

const OPTIONS: RetryOptions = {
  enabled: true,
  initial_interval: 5000,
  max_interval: 30000,
  multiplier: 1.5,
  randomization_factor: 0.5,
  max_elapsed_time: 0,
};
const FAILURE = { attempts: 1, nowMs: 1000, firstAttemptMs: 1000, retryAfterMs: null };

t.test('waits grow from the first interval to the longest one', async (t) => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 1000].map((attempts) => {
    return (nextAttempt(OPTIONS, { ...FAILURE, attempts }, 0.5) ?? 0) - FAILURE.nowMs;
  });
  t.strictSame(waits, [5000, 7500, 11250, 16875, 25313, 30000, 30000, 30000]);
});

t.test('a wait is randomized by at most the configured part', async (t) => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.integer({ min: 1, max: 50 }), (chance, attempts) => {
      const middle = (nextAttempt(OPTIONS, { ...FAILURE, attempts }, 0.5) ?? 0) - FAILURE.nowMs;
      const wait = (nextAttempt(OPTIONS, { ...FAILURE, attempts }, chance) ?? 0) - FAILURE.nowMs;
      return wait >= Math.floor(middle * 0.5) && wait <= Math.ceil(middle * 1.5);
    }),
  );
  t.pass();
});

t.test('Retry-After lengthens a wait, up to an hour, and never shortens it', async (t) => {
  const wait = (retryAfterMs: number): number =>
    (nextAttempt(OPTIONS, { ...FAILURE, retryAfterMs }, 0.5) ?? 0) - FAILURE.nowMs;
  t.equal(wait(60000), 60000);
  t.equal(wait(10), 5000);
  t.equal(wait(86400000), MAX_RETRY_AFTER_MS);
});

t.test('a request that was retried for too long is given up, by default never', async (t) => {
  const late = { ...FAILURE, attempts: 100, nowMs: 300000, firstAttemptMs: 1000 };
  t.equal(nextAttempt(OPTIONS, late, 0.5), 330000);
  t.equal(nextAttempt({ ...OPTIONS, max_elapsed_time: 300000 }, late, 0.5), null, 'the next wait would pass the limit');
  t.equal(nextAttempt({ ...OPTIONS, max_elapsed_time: 330000 }, late, 0.5), 330000);
  t.equal(nextAttempt({ ...OPTIONS, enabled: false }, FAILURE, 0.5), null);
});

t.test('Retry-After is seconds or a date; anything else is ignored', async (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  t.equal(parseRetryAfter('120', now), 120000);
  t.equal(parseRetryAfter(' 0 ', now), 0);
  t.equal(parseRetryAfter('Thu, 01 Jan 2026 00:01:00 GMT', now), 60000);
  t.equal(parseRetryAfter('Thu, 01 Jan 2025 00:01:00 GMT', now), 0, 'a date that has passed');
  for (const nothing of [undefined, '', '-5', '1.5', 'soon', '99999999999']) {
    t.equal(parseRetryAfter(nothing, now), null, String(nothing));
  }
});
