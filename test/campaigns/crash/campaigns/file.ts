/**
 * kill -9 of a daemon that writes to a file on a disk which forgets what was not synced: what a loss of power does to a
 * sidecar without a database.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import { type Campaign, hold, startLoad } from './campaign.ts';

const SHORTEST_LIFE_MS = 200;
const LONGEST_LIFE_MS = 800;

export const file: Campaign = {
  name: 'file',
  summary: 'kill -9 of a sidecar that writes to a file, on a disk that forgets what was not synced',
  cycles: { full: 40, short: 2 },
  run: (options) =>
    hold(options, { replicas: 1, exporters: 'file', forgetfulDisk: true }, async (range) => {
      const random = new Random(options.seed);
      const load = startLoad(range, options.seed);
      const [replica] = range.replicas;
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
