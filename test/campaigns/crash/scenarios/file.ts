/**
 * kill -9 of a daemon that writes to a file, where a kill loses unsynced writes: a loss of power of a sidecar without a
 * database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import { type Scenario, runScenario, startLoad } from './scenario.ts';

const SHORTEST_LIFE_MS = 200;
const LONGEST_LIFE_MS = 800;

export const file: Scenario = {
  name: 'file',
  summary: 'kill -9 of a sidecar that writes to a file, on a disk that loses unsynced writes',
  cycles: { full: 40, short: 2 },
  run: (options) =>
    runScenario(options, { replicas: 1, exporters: 'file', forgetfulDisk: true }, async (testbed) => {
      const random = new Random(options.seed);
      const load = startLoad(testbed, options.seed);
      const [replica] = testbed.replicas;
      for (let cycle = 1; cycle <= options.cycles && replica !== undefined; cycle++) {
        await pause(SHORTEST_LIFE_MS + random.below(LONGEST_LIFE_MS));
        replica.kill();
        await replica.ended();
        await replica.start();
      }
      await load.stop();
      return [];
    }),
};
