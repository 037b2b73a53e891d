/**
 * No misfortune at all, only senders in each other's way on several replicas: caps, contested traces, hot rows, twins. Every
 * COMMIT takes a little longer than it would, so that locks are held while others come for them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Tenant, VOLLEY_CAP, VOLLEYS } from '../load/tenants.ts';
import type { Range } from '../stage/range.ts';
import type { Replica } from '../stage/replica.ts';
import { type Campaign, hold, startLoad } from './campaign.ts';

const SENDERS = 24;
/** With two writers a deadlock needs an unlikely moment; with four it only needs keys in different orders. */
const REPLICAS = 4;
const COMMIT_MS = 15;
const CYCLE_MS = 1000;
const VOLLEY_SPANS = 2;
const JAMS = 6;

export const crowd: Campaign = {
  name: 'crowd',
  summary: `many senders in each other’s way on ${REPLICAS} replicas, without any fault; a cycle is a second`,
  cycles: { full: 60, short: 5 },
  run: (options) =>
    hold(options, { replicas: REPLICAS, exporters: 'postgres' }, async (range) => {
      for (const proxy of range.proxies) proxy.slowCommits(COMMIT_MS);
      const load = startLoad(range, options.seed, SENDERS);
      for (let cycle = 0; cycle < options.cycles; cycle++) {
        const tenant = VOLLEYS[cycle % VOLLEYS.length] as Tenant;
        await Promise.all([pause(CYCLE_MS), fireVolley(range, tenant), jam(range)]);
      }
      await load.stop();
      return [];
    }),
};

/** Three times what the plan has room for, at the same moment on every replica. */
async function fireVolley({ sender, maker, replicas }: Range, tenant: Tenant): Promise<void> {
  const bodies = Array.from({ length: (VOLLEY_CAP * 3) / VOLLEY_SPANS }, () => maker.plain(tenant, VOLLEY_SPANS));
  await Promise.all(
    bodies.map((body, index) => sender.send(body, replicas[index % replicas.length] ?? (replicas[0] as Replica))),
  );
}

/** Overlapping traces at the same moment on every replica, over and over: on a busy machine senders hardly meet so by chance. */
async function jam({ sender, maker, replicas }: Range): Promise<void> {
  for (let jams = 0; jams < JAMS; jams++) {
    const bodies = maker.jam(replicas.length);
    await Promise.all(bodies.map((body, index) => sender.send(body, replicas[index] as Replica)));
  }
}
