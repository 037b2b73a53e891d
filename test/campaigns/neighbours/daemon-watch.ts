/** Preloaded into the daemon: answers each message of the campaign with its figures since the one before. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Milliseconds. */
export interface DaemonFigures {
  /** The longest time in which the event loop did not run a timer. */
  readonly blockedMs: number;
  /** Processor time of all threads, as a part of one processor. */
  readonly processor: number;
}

const RESOLUTION_MS = 2;
const NS_PER_MS = 1e6;

const { channel } = process;
if (channel !== undefined && channel !== null) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  let [cpu, since] = [process.cpuUsage(), performance.now()];
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu);
    const elapsedMs = performance.now() - since;
    const figures: DaemonFigures = {
      blockedMs: Math.max(0, delay.max / NS_PER_MS - RESOLUTION_MS),
      processor: (user + system) / 1000 / elapsedMs,
    };
    delay.reset();
    [cpu, since] = [process.cpuUsage(), performance.now()];
    process.send?.(figures);
  });
  // The daemon ends as without the campaign.
  channel.unref();
}
