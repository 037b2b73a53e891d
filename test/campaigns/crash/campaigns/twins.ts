/**
 * The same bytes many times at once, on two replicas, while the first commit is held back: nobody may be told 200 before it,
 * and there is one copy.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from '../check/findings.ts';
import { Load } from '../load/load.ts';
import { LANES, type Tenant } from '../load/tenants.ts';
import { COMMIT_SENT } from '../proxy/fault.ts';
import type { Range } from '../stage/range.ts';
import { type Campaign, hold } from './campaign.ts';

const TWINS = 50;
/** Shorter than any lock may be waited for. */
const HELD_MS = 800;

export const twins: Campaign = {
  name: 'twins',
  summary: `${TWINS} times the same bytes in flight over two replicas, the first commit held back`,
  cycles: { full: 10, short: 1 },
  run: (options) =>
    hold(options, { replicas: 2, exporters: 'postgres' }, async (range, findings) => {
      for (let cycle = 0; cycle < options.cycles; cycle++) await holdOnce(range, findings, cycle);
      return [];
    }),
};

async function holdOnce(range: Range, findings: Findings, cycle: number): Promise<void> {
  const [proxy] = range.proxies;
  const [first] = range.replicas;
  if (proxy === undefined || first === undefined) throw new Error('no replica to hold back');
  const body = range.maker.plain(LANES[0] as Tenant, 5);
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  const shot = proxy.arm({ ...COMMIT_SENT, fault: { kind: 'hold', until } });
  const load = new Load(range, range.replicas, { senders: 0, seed: cycle, pauseMs: 0, abandonPercent: 0 });
  let isHeld = true;
  const deliver = async (): Promise<void> => {
    const status = await load.deliver(body);
    if (isHeld && status === 200) findings.add('false_200', `a twin was answered 200 while the commit was held back`);
  };
  const original = range.sender.send(body, first);
  await shot.fired;
  const others = Array.from({ length: TWINS - 1 }, deliver);
  await pause(HELD_MS);
  isHeld = false;
  release();
  await Promise.all([original, ...others]);
  proxy.heal();
}
