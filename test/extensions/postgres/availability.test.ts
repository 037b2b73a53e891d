// What a failure says about the database: available, unavailable or unknown; and a time limit that does not count
// pauses of the process.
import t from 'tap';
import { availabilityAfter } from '../../../src/extensions/postgres/availability.ts';
import { within } from '../../../src/extensions/postgres/time-limit.ts';

const failure = (message: string, code?: string): Error =>
  Object.assign(new Error(message), code === undefined ? {} : { code });

t.test('a failure shows whether the database is unavailable', async (t) => {
  const cases = {
    unavailable: [
      failure('connect ECONNREFUSED', 'ECONNREFUSED'),
      failure('write EPIPE', 'EPIPE'),
      new AggregateError([failure('connect ECONNREFUSED ::1:5432', 'ECONNREFUSED')], ''),
      failure('Connection terminated unexpectedly'),
      failure('the database is not open'),
      failure('the database system is in recovery mode', '57P03'),
      failure('terminating connection due to administrator command', '57P01'),
      failure('sorry, too many clients already', '53300'),
      failure('could not extend file', '53100'),
      failure('password authentication failed', '28P01'),
      failure('cannot execute INSERT in a read-only transaction', '25006'),
    ],
    available: [
      failure('canceling statement due to statement timeout', '57014'),
      failure('permission denied for table api_keys', '42501'),
      failure('relation "sluice.api_keys" does not exist', '42P01'),
    ],
    unknown: [failure('no answer within 2000 ms'), failure('Query read timeout'), failure('timeout expired'), null],
  };
  for (const [availability, errors] of Object.entries(cases))
    for (const error of errors) t.equal(availabilityAfter(error), availability, String(error));
});

t.test('an answer that arrived while the process was paused is in time', async (t) => {
  const started = performance.now();
  const answer = within(50, new Promise((resolve) => setTimeout(() => resolve('answer'), 60)));
  while (performance.now() - started < 200);
  t.equal(await answer, 'answer');
  await t.rejects(within(10, new Promise(() => undefined)), { message: 'no answer within 10 ms' });
});
