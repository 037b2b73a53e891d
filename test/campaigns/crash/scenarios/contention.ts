/**
 * No faults, only conflicting senders on several replicas: caps, contested traces, hot rows, duplicates in flight.
 * Every COMMIT is delayed, so that locks are held while other writers wait for them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { type Tenant, BURST_CAP, BURSTS } from '../load/tenants.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Replica } from '../testbed/replica.ts';
import { type Scenario, runScenario, startLoad } from './scenario.ts';

const SENDERS = 24;
/** Two writers rarely deadlock on unsorted keys; four do so reliably. */
const REPLICAS = 4;
const COMMIT_MS = 15;
const CYCLE_MS = 1000;
const BURST_SPANS = 2;
const OVERLAPS = 6;

export const contention: Scenario = {
  name: 'contention',
  summary: `conflicting senders on ${REPLICAS} replicas, without faults; a cycle is a second`,
  cycles: { full: 60, short: 5 },
  run: (options) =>
    runScenario(options, { replicas: REPLICAS, exporters: 'postgres' }, async (testbed) => {
      for (const proxy of testbed.proxies) proxy.slowCommits(COMMIT_MS);
      const load = startLoad(testbed, options.seed, SENDERS);
      for (let cycle = 0; cycle < options.cycles; cycle++) {
        const tenant = BURSTS[cycle % BURSTS.length] as Tenant;
        await Promise.all([pause(CYCLE_MS), sendBurst(testbed, tenant), sendOverlapping(testbed)]);
      }
      await load.stop();
      return [];
    }),
};

/** Three times the cap, at the same moment on every replica. */
async function sendBurst({ sender, maker, replicas }: Testbed, tenant: Tenant): Promise<void> {
  const bodies = Array.from({ length: (BURST_CAP * 3) / BURST_SPANS }, () => maker.plain(tenant, BURST_SPANS));
  await Promise.all(
    bodies.map((body, index) => sender.send(body, replicas[index % replicas.length] ?? (replicas[0] as Replica))),
  );
}

/**
 * Bodies with overlapping traces at the same moment on every replica: the usual load rarely produces this on a busy
 * machine.
 */
async function sendOverlapping({ sender, maker, replicas }: Testbed): Promise<void> {
  for (let round = 0; round < OVERLAPS; round++) {
    const bodies = maker.overlapping(replicas.length);
    await Promise.all(bodies.map((body, index) => sender.send(body, replicas[index] as Replica)));
  }
}
