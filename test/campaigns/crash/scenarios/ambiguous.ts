/**
 * COMMIT is sent and its reply is lost, so the daemon does not know the outcome. The sender retries on another replica,
 * or the daemon reads the markers. In both cases one copy is stored.
 */
import { Random } from '../../../support/generators-random.ts';
import type { Body } from '../load/body.ts';
import { Load } from '../load/load.ts';
import { ISOLATED, RIVALS, type Tenant } from '../load/tenants.ts';
import { COMMIT_SENT, COMMITTED, type Rule } from '../proxy/fault.ts';
import type { Testbed } from '../testbed/testbed.ts';
import { type Scenario, expectHits, runScenario } from './scenario.ts';

const LATE_MS = 300;

/** How the reply is lost. `late`: the commit happens after other connections have read the marker. */
const LOSSES: readonly Rule[] = [
  { ...COMMITTED, fault: { kind: 'cut', where: 'before' } },
  { ...COMMIT_SENT, fault: { kind: 'cut', where: 'after' } },
  { ...COMMIT_SENT, fault: { kind: 'late', ms: LATE_MS } },
  { ...COMMIT_SENT, fault: { kind: 'cut', where: 'before' } },
];

export const ambiguous: Scenario = {
  name: 'ambiguous',
  summary: 'the reply to COMMIT is lost, and the sender retries on another replica',
  cycles: { full: 120, short: 10 },
  run: (options) =>
    runScenario(options, { replicas: 2, exporters: 'postgres' }, async (testbed, findings) => {
      const random = new Random(options.seed);
      let hits = 0;
      for (let cycle = 0; cycle < options.cycles; cycle++) {
        const outcome = await loseOnce(testbed, random, cycle);
        if (outcome.hit) hits++;
        for (const status of outcome.unsettled)
          findings.add('stuck', `a request was still answered ${status} after the database could be reached again`);
        if ((cycle + 1) % 20 === 0) options.report(`ambiguous: ${cycle + 1} of ${options.cycles}`);
      }
      expectHits(findings, hits, options.cycles);
      return [`${hits} of ${options.cycles} commits had an unknown outcome`];
    }),
};

async function loseOnce(testbed: Testbed, random: Random, cycle: number) {
  const [first, second] = testbed.replicas;
  const [proxy] = testbed.proxies;
  if (first === undefined || second === undefined || proxy === undefined) throw new Error('two replicas are needed');
  const loss = LOSSES[cycle % LOSSES.length] as Rule;
  const armed = proxy.arm(loss);
  const isDatabaseAway = cycle % 8 < LOSSES.length;
  // Without new connections the daemon cannot read the markers.
  if (isDatabaseAway) void armed.fired.then(() => proxy.receive('refuse'));
  const tenant = random.pick([ISOLATED[0] as Tenant, RIVALS[1] as Tenant]);
  const bodies = [testbed.maker.plain(tenant, 2), testbed.maker.plain(tenant, 100), testbed.maker.next()];
  const settings = { senders: 0, seed: cycle, pauseMs: 0, abandonPercent: 0 };
  const retry = new Load(testbed, [second], settings);
  const deliver = async (body: Body) => {
    const status = await testbed.sender.send(body, first);
    return status === 'unknown' || status >= 500 ? retry.deliver(body) : status;
  };
  const statuses = await Promise.all(bodies.map(deliver));
  proxy.heal();
  // The next cycle needs a daemon that has noticed that its database is back; otherwise it sends no COMMIT.
  statuses.push(await new Load(testbed, [first], settings).deliver(testbed.maker.plain(tenant, 1)));
  return {
    hit: armed.hit !== null,
    unsettled: statuses.filter((status) => status === 'unknown' || status >= 500),
  };
}
