/**
 * No misfortune at all, only senders in each other's way on several replicas: caps, contested traces, hot rows, twins. Every
 * COMMIT takes a little longer than it would, so that locks are held while others come for them.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { COMMIT_SENT } from '../proxy/fault.ts';
import type { FaultProxy } from '../proxy/fault-proxy.ts';
import { type Campaign, hold, startLoad } from './campaign.ts';

const SENDERS = 24;
/** With two writers a deadlock needs an unlikely moment; with four it only needs keys in different orders. */
const REPLICAS = 4;
const COMMIT_MS = 15;
const CYCLE_MS = 1000;

export const crowd: Campaign = {
  name: 'crowd',
  summary: `many senders in each other’s way on ${REPLICAS} replicas, without any fault; a cycle is a second`,
  cycles: { full: 60, short: 5 },
  run: (options) =>
    hold(options, { replicas: REPLICAS, exporters: 'postgres' }, async (range) => {
      const stopped = new AbortController();
      for (const proxy of range.proxies) void slowCommits(proxy, stopped.signal);
      const load = startLoad(range, options.seed, SENDERS);
      await pause(options.cycles * CYCLE_MS);
      await load.stop();
      stopped.abort();
      return [];
    }),
};

async function slowCommits(proxy: FaultProxy, stopped: AbortSignal): Promise<void> {
  const stop = new Promise<void>((resolve) => stopped.addEventListener('abort', () => resolve()));
  while (!stopped.aborted) {
    const shot = proxy.arm({ ...COMMIT_SENT, fault: { kind: 'delay', ms: COMMIT_MS } });
    await Promise.race([shot.fired, stop]);
  }
}
