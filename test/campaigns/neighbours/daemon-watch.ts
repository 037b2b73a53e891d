/** Preloaded into the daemon: answers each message of the campaign with its figures since the one before. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { PostgresLedger } from '../../../src/extensions/postgres/ledger/ledger.ts';
import { GroupCommit } from '../../../src/service/settle/group-commit.ts';
import { NS_PER_MS } from '../../../src/pdata/time-units.ts';

/** Milliseconds. */
export interface DaemonFigures {
  /** The longest time in which the event loop did not run a timer. */
  readonly blockedMs: number;
  /** Processor time of all threads, as a part of one processor. */
  readonly processor: number;
  /** The longest wait of a request of the honest project for its group to be settled. */
  readonly queueMs: number;
  /** The longest settlement of a group with such a request: the work of the database and the waits there. */
  readonly databaseMs: number;
}

const RESOLUTION_MS = 2;
const HONEST = 'honest';

class LongestWaits {
  queueMs = 0;
  databaseMs = 0;

  /** Wraps the two methods between which the requests wait. */
  watch(): void {
    const arrived = new WeakMap<object, number>();
    const settleRequest = GroupCommit.prototype.settle;
    GroupCommit.prototype.settle = function (this: GroupCommit, claim, encoded, trace) {
      if (claim.project.name === HONEST) arrived.set(claim, performance.now());
      return settleRequest.call(this, claim, encoded, trace);
    };
    const settleGroup = PostgresLedger.prototype.settle;
    const note = (group: readonly object[], begun: number): void => {
      const times = group.map((claim) => arrived.get(claim)).filter((time) => time !== undefined);
      if (times.length === 0) return;
      this.queueMs = Math.max(this.queueMs, begun - Math.min(...times));
      this.databaseMs = Math.max(this.databaseMs, performance.now() - begun);
    };
    PostgresLedger.prototype.settle = async function (this: PostgresLedger, group, write) {
      const begun = performance.now();
      const decisions = await settleGroup.call(this, group, write);
      note(group, begun);
      return decisions;
    };
  }
}

const { channel } = process;
if (channel !== undefined && channel !== null) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const waits = new LongestWaits();
  waits.watch();
  let [cpu, since] = [process.cpuUsage(), performance.now()];
  process.on('message', () => {
    const { user, system } = process.cpuUsage(cpu);
    const elapsedMs = performance.now() - since;
    const figures: DaemonFigures = {
      blockedMs: Math.max(0, delay.max / NS_PER_MS - RESOLUTION_MS),
      processor: (user + system) / 1000 / elapsedMs,
      queueMs: waits.queueMs,
      databaseMs: waits.databaseMs,
    };
    delay.reset();
    [cpu, since] = [process.cpuUsage(), performance.now()];
    [waits.queueMs, waits.databaseMs] = [0, 0];
    process.send?.(figures);
  });
  // The daemon ends as without the campaign.
  channel.unref();
}
