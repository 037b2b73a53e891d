/**
 * COMMIT is sent and its answer is lost: nobody can tell whether it happened. The sender tries again on another replica, or
 * the daemon finds out by itself; either way there is one copy.
 */
import { Random } from '../../../support/generators-random.ts';
import type { Body } from '../load/body.ts';
import { Load } from '../load/load.ts';
import { LANES, RIVALS, type Tenant } from '../load/tenants.ts';
import { COMMIT_SENT, COMMITTED, type Rule } from '../proxy/fault.ts';
import type { Range } from '../stage/range.ts';
import { type Campaign, expectHits, hold } from './campaign.ts';

const LATE_MS = 300;

/** How the answer is lost. Late: the commit itself comes when others have asked about it already. */
const LOSSES: readonly Rule[] = [
  { ...COMMITTED, fault: { kind: 'cut', where: 'before' } },
  { ...COMMIT_SENT, fault: { kind: 'cut', where: 'after' } },
  { ...COMMIT_SENT, fault: { kind: 'late', ms: LATE_MS } },
  { ...COMMIT_SENT, fault: { kind: 'cut', where: 'before' } },
];

export const ambiguous: Campaign = {
  name: 'ambiguous',
  summary: 'the answer to COMMIT is lost, and the sender tries again on another replica',
  cycles: { full: 120, short: 10 },
  run: (options) =>
    hold(options, { replicas: 2, exporters: 'postgres' }, async (range, findings) => {
      const random = new Random(options.seed);
      let hits = 0;
      for (let cycle = 0; cycle < options.cycles; cycle++) {
        const outcome = await loseOnce(range, random, cycle);
        if (outcome.hit) hits++;
        for (const status of outcome.unsettled)
          findings.add('stuck', `a request was still answered ${status} after the database could be reached again`);
        if ((cycle + 1) % 20 === 0) options.say(`ambiguous: ${cycle + 1} of ${options.cycles}`);
      }
      expectHits(findings, hits, options.cycles);
      return [`${hits} of ${options.cycles} commits were lost sight of`];
    }),
};

async function loseOnce(range: Range, random: Random, cycle: number) {
  const [first, second] = range.replicas;
  const [proxy] = range.proxies;
  if (first === undefined || second === undefined || proxy === undefined) throw new Error('two replicas are needed');
  const loss = LOSSES[cycle % LOSSES.length] as Rule;
  const shot = proxy.arm(loss);
  const isAlone = cycle % 8 < LOSSES.length;
  // Alone: the daemon can not ask the database what has become of its commit.
  if (isAlone) void shot.fired.then(() => proxy.receive('refuse'));
  const tenant = random.pick([LANES[0] as Tenant, RIVALS[1] as Tenant]);
  const bodies = [range.maker.plain(tenant, 2), range.maker.plain(tenant, 100), range.maker.next()];
  const settings = { senders: 0, seed: cycle, pauseMs: 0, abandonPercent: 0 };
  const retry = new Load(range, [second], settings);
  const deliver = async (body: Body) => {
    const status = await range.sender.send(body, first);
    return status === 'unknown' || status >= 500 ? retry.deliver(body) : status;
  };
  const statuses = await Promise.all(bodies.map(deliver));
  proxy.heal();
  // A daemon that knows its database to be away sends no COMMIT that the next cycle could meet.
  statuses.push(await new Load(range, [first], settings).deliver(range.maker.plain(tenant, 1)));
  return {
    hit: shot.hit !== null,
    unsettled: statuses.filter((status) => status === 'unknown' || status >= 500),
  };
}
