/** The database stops at once under load, as after a panic, and recovers from its log. */
import { setTimeout as pause } from 'node:timers/promises';
import { EmbeddedServer } from '../../../../src/extensions/postgres/embedded/server.ts';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { Random } from '../../../support/generators-random.ts';
import { ISOLATED, type Tenant } from '../load/tenants.ts';
import type { Testbed } from '../testbed/testbed.ts';
import { type Scenario, runScenario, startLoad } from './scenario.ts';

const LONGEST_LIFE_MS = 1000;
/** Generous, because the machine may be busy. */
const RECOVERY_TIMEOUT_MS = 180000;

export const database: Scenario = {
  name: 'database',
  summary: 'immediate stops of PostgreSQL under load',
  cycles: { full: 25, short: 2 },
  run: (options) =>
    runScenario(options, { replicas: 2, exporters: 'postgres' }, async (testbed, findings) => {
      const random = new Random(options.seed);
      const load = startLoad(testbed, options.seed);
      let slowest = 0;
      for (let cycle = 1; cycle <= options.cycles; cycle++) {
        await pause(random.below(LONGEST_LIFE_MS));
        const ms = await crashOnce(testbed);
        if (ms === null) findings.add('stuck', `no 200 within ${RECOVERY_TIMEOUT_MS} ms of a crash of the database`);
        slowest = Math.max(slowest, ms ?? RECOVERY_TIMEOUT_MS);
        if (cycle % 5 === 0) options.report(`database: ${cycle} of ${options.cycles}`);
      }
      await load.stop();
      return [`slowest recovery ${(slowest / 1000).toFixed(1)} s from the crash to the first 200 of every replica`];
    }),
};

/** Milliseconds from the crash until every replica has answered 200; null when one does not in time. */
async function crashOnce({ database: { server }, replicas, sender, maker }: Testbed): Promise<number | null> {
  if (!(server instanceof EmbeddedServer)) throw new Error('this scenario needs a server of its own, without --url');
  const { pid } = server;
  if (pid === undefined) throw new Error('the database does not run');
  const started = performance.now();
  process.kill(pid, 'SIGQUIT');
  for (const replica of replicas) {
    const accepts = async (): Promise<true | undefined> =>
      (await sender.send(maker.plain(ISOLATED[0] as Tenant, 1), replica)) === 200 && server.pid !== pid
        ? true
        : undefined;
    if ((await waitFor(accepts, { timeoutMs: RECOVERY_TIMEOUT_MS })) === undefined) return null;
  }
  return performance.now() - started;
}
