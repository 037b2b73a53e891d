/**
 * Replicas whose clocks are weeks behind and ahead, killed under load. Each start does the maintenance: a replica that
 * trusts its own clock would drop what was stored just now, or store it under a day that another one drops.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import { type Scenario, runScenario, startLoad } from './scenario.ts';

/** More than the default retention of spans and logs, which is 30 days. */
const CLOCK_DAYS = [-40, 0, 40];
const LONGEST_LIFE_MS = 600;

export const clocks: Scenario = {
  name: 'clocks',
  summary: 'kill -9 of daemons whose clocks are 40 days behind and ahead',
  cycles: { full: 60, short: 6 },
  run: (options) =>
    runScenario(
      options,
      { replicas: CLOCK_DAYS.length, exporters: 'postgres', clockDays: CLOCK_DAYS },
      async (testbed, findings) => {
        const random = new Random(options.seed);
        const load = startLoad(testbed, options.seed);
        for (let cycle = 1; cycle <= options.cycles; cycle++) {
          await pause(random.below(LONGEST_LIFE_MS));
          const replica = testbed.replicas[cycle % CLOCK_DAYS.length];
          if (replica === undefined) throw new Error('no replica to kill');
          replica.kill();
          await replica.ended();
          await replica.start();
          if (cycle % 10 === 0) options.report(`clocks: ${cycle} of ${options.cycles}`);
        }
        await load.stop();
        const { rows } = await testbed.database.pool.query<{ wrong: string }>(
          `SELECT count(*) AS wrong FROM (
             SELECT received_at FROM sluice.spans UNION ALL SELECT received_at FROM sluice.logs
             UNION ALL SELECT received_at FROM sluice.metric_points) AS rows
           WHERE received_at NOT BETWEEN now() - interval '1 day' AND now() + interval '1 day'`,
        );
        const wrong = Number(rows[0]?.wrong);
        if (wrong > 0) findings.add('wrong_time', `${wrong} rows have the arrival time of a wrong clock`);
        return [];
      },
    ),
};
