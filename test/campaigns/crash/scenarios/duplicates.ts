/**
 * The same bytes many times at once on two replicas, while the first commit is held: no 200 before it, and one copy is
 * stored.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Findings } from '../check/findings.ts';
import { Load } from '../load/load.ts';
import { ISOLATED, type Tenant } from '../load/tenants.ts';
import { COMMIT_SENT } from '../proxy/fault.ts';
import type { Testbed } from '../testbed/testbed.ts';
import { type Scenario, runScenario } from './scenario.ts';

const REQUESTS = 50;
/** Shorter than every lock timeout. */
const HELD_MS = 800;

export const duplicates: Scenario = {
  name: 'duplicates',
  summary: `the same bytes in flight ${REQUESTS} times on two replicas, the first commit held`,
  cycles: { full: 10, short: 1 },
  run: (options) =>
    runScenario(options, { replicas: 2, exporters: 'postgres' }, async (testbed, findings) => {
      for (let cycle = 0; cycle < options.cycles; cycle++) await holdOnce(testbed, findings, cycle);
      return [];
    }),
};

async function holdOnce(testbed: Testbed, findings: Findings, cycle: number): Promise<void> {
  const [proxy] = testbed.proxies;
  const [first] = testbed.replicas;
  if (proxy === undefined || first === undefined) throw new Error('there is no replica');
  const body = testbed.maker.plain(ISOLATED[0] as Tenant, 5);
  let release: () => void = () => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  const armed = proxy.arm({ ...COMMIT_SENT, fault: { kind: 'hold', until } });
  const load = new Load(testbed, testbed.replicas, { senders: 0, seed: cycle, pauseMs: 0, abandonPercent: 0 });
  let isHeld = true;
  const deliver = async (): Promise<void> => {
    const status = await load.deliver(body);
    if (isHeld && status === 200) findings.add('false_200', `a duplicate was answered 200 while the commit was held`);
  };
  const original = testbed.sender.send(body, first);
  await armed.fired;
  const others = Array.from({ length: REQUESTS - 1 }, deliver);
  await pause(HELD_MS);
  isHeld = false;
  release();
  await Promise.all([original, ...others]);
  proxy.heal();
}
