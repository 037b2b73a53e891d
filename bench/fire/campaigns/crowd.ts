/** No misfortune at all, only senders in each other's way on two replicas: caps, contested traces, hot rows, twins. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Campaign, hold, startLoad } from './campaign.ts';

const SENDERS = 24;
const CYCLE_MS = 1000;

export const crowd: Campaign = {
  name: 'crowd',
  summary: 'many senders in each other’s way on two replicas, without any fault; a cycle is a second',
  cycles: { full: 60, short: 5 },
  run: (options) =>
    hold(options, { replicas: 2, exporters: 'postgres' }, async (range) => {
      const load = startLoad(range, options.seed, SENDERS);
      await pause(options.cycles * CYCLE_MS);
      await load.stop();
      return [];
    }),
};
