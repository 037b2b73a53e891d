import t from 'tap';
import { shortfallOf } from '../../../src/cli/bench/report.ts';
import type { Step } from '../../../src/cli/bench/run-load.ts';

const step = (load: string, answers: Step['answers'], notSent = 0): Step => ({
  ...{ load, answers, notSent, offered: 1, stored: 1, p50: 1, p99: 1 },
  ...{ daemonCores: null, databaseCores: null, generatorCores: 0 },
});

t.test('a given rate must be stored, a search for the peak must be answered', async (t) => {
  t.equal(shortfallOf([step('warm-up', { 200: 99 }, 50), step('rate', { 200: 99, none: 1 })]), null);
  t.equal(
    shortfallOf([step('rate', { 200: 90, 503: 2, none: 5 }, 3)]),
    '10 of 100 requests of the step "rate" were not stored: 2 × 503, 5 × no answer, 3 × not sent',
  );
  t.equal(shortfallOf([step('peak', { 200: 50, 503: 50 }), step('110 %', { 200: 50 }, 50)]), null);
  t.match(shortfallOf([step('peak', { 200: 98, none: 2 })]), /^2 of 100 requests of the step "peak"/u);
});
