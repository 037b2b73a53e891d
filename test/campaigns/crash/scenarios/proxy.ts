/**
 * A connection to the database breaks at one message: every message of a transaction with every fault. After each case
 * the replica must accept again. The checker reads the store once, after all cases.
 */
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { Random } from '../../../support/generators-random.ts';
import type { Findings } from '../check/findings.ts';
import type { Body } from '../load/body.ts';
import { Load } from '../load/load.ts';
import { ISOLATED, type Tenant } from '../load/tenants.ts';
import type { FaultProxy } from '../proxy/fault-proxy.ts';
import type { Testbed } from '../testbed/testbed.ts';
import type { Replica } from '../testbed/replica.ts';
import { type Scenario, expectHits, runScenario } from './scenario.ts';
import { type Boundary, gridOf, type ProxyCase } from './grid.ts';

/** Slow cases wait for the daemon's own deadline. They run concurrently, each on a replica of its own. */
const SLOW_REPLICAS = 5;
/** Share of slow cases, which take half a minute each. */
const SLOW_SHARE = 0.08;
/** Delay of every COMMIT: an answer that does not wait for it is visibly early. */
const COMMIT_MS = 15;
/** Both are generous, because the machine may be busy. */
const RECOVERY_TIMEOUT_MS = 120000;
const SLOW_TIMEOUT_MS = 240000;

interface CaseTarget {
  readonly replica: Replica;
  readonly proxy: FaultProxy;
  readonly tenant: Tenant;
}

export const proxy: Scenario = {
  name: 'proxy',
  summary: 'connections broken at every message of a transaction, in every way',
  cycles: { full: 300, short: 24 },
  run: (options) => {
    const slowCount = options.only === undefined ? Math.floor(options.cycles * SLOW_SHARE) : 0;
    const replicas = 2 + Math.min(slowCount, SLOW_REPLICAS);
    return runScenario(options, { replicas, exporters: 'postgres' }, async (testbed, findings) => {
      const grid = gridOf(await transactionMessages(testbed)).filter(({ name }) => name.includes(options.only ?? ''));
      const cases = choose(grid, options.cycles, slowCount, new Random(options.seed));
      const runner = new CaseRunner(testbed, findings, options.report);
      const [quick, ...others] = testbed.replicas.flatMap((replica, index): CaseTarget[] => {
        const proxy = testbed.proxies[index];
        const tenant = ISOLATED[index];
        return proxy === undefined || tenant === undefined || index === 0 ? [] : [{ replica, proxy, tenant }];
      });
      if (quick === undefined) throw new Error('there is no second replica');
      quick.proxy.slowCommits(COMMIT_MS);
      const slow = cases.filter((one) => one.slow);
      await Promise.all([
        runner.run(
          quick,
          cases.filter((one) => !one.slow),
        ),
        ...others.map((target, index) =>
          runner.run(
            target,
            slow.filter((_, position) => position % others.length === index),
          ),
        ),
      ]);
      return runner.notes();
    });
  },
};

class CaseRunner {
  readonly #testbed: Testbed;
  readonly #findings: Findings;
  readonly #report: (line: string) => void;
  #done = 0;
  #missed = 0;
  #slowest = { ms: 0, name: '' };

  constructor(testbed: Testbed, findings: Findings, report: (line: string) => void) {
    this.#testbed = testbed;
    this.#findings = findings;
    this.#report = report;
  }

  async run(target: CaseTarget, cases: readonly ProxyCase[]): Promise<void> {
    for (const one of cases) {
      await this.#runCase(target, one);
      if (++this.#done % 25 === 0) this.#report(`proxy: ${this.#done} cases`);
    }
  }

  /** To be called once, after all cases. */
  notes(): readonly string[] {
    const { ms, name } = this.#slowest;
    expectHits(this.#findings, this.#done - this.#missed, this.#done);
    return [
      `${this.#done} cases, ${this.#missed} whose message did not arrive`,
      `slowest recovery after a quick fault ${(ms / 1000).toFixed(1)} s: ${name}`,
    ];
  }

  async #runCase({ replica, proxy, tenant }: CaseTarget, one: ProxyCase): Promise<void> {
    const [sound] = this.#testbed.replicas;
    const armed = proxy.arm(one.rule);
    const load = new Load(this.#testbed, [replica, sound ?? replica], {
      senders: 0,
      seed: this.#done,
      pauseMs: 0,
      abandonPercent: 10,
    });
    const sends = this.#bodies(tenant, one.slow).map((body) => this.#send(body, replica, load));
    await Promise.all(sends);
    const healed = performance.now();
    proxy.heal();
    if (armed.hit === null) this.#missed++;
    const timeoutMs = one.slow ? SLOW_TIMEOUT_MS : RECOVERY_TIMEOUT_MS;
    const accepts = async (): Promise<true | undefined> =>
      (await this.#testbed.sender.send(this.#testbed.maker.plain(tenant, 1), replica)) === 200 ? true : undefined;
    if ((await waitFor(accepts, { timeoutMs })) === undefined)
      this.#findings.add('stuck', `no 200 within ${timeoutMs} ms after ${one.name}`);
    const ms = performance.now() - healed;
    if (!one.slow && ms > this.#slowest.ms) this.#slowest = { ms, name: one.name };
  }

  /**
   * Quick cases get every kind of body. Slow ones hold locks for long, so they share no trace or counter with other
   * cases.
   */
  #bodies(tenant: Tenant, slow: boolean): readonly Body[] {
    const { maker } = this.#testbed;
    const plain = maker.plain(tenant, 3);
    if (slow) return [plain, plain, maker.plain(tenant, 2)];
    return [plain, plain, maker.plain(tenant, 200), maker.next(), maker.next(), maker.next()];
  }

  async #send(body: Body, replica: Replica, load: Load): Promise<void> {
    const status = await this.#testbed.sender.send(body, replica);
    if (status === 'unknown' || status >= 500) await load.deliver(body);
  }
}

/** The messages of the transaction of one small request. */
async function transactionMessages({ replicas, proxies, sender, maker }: Testbed): Promise<readonly Boundary[]> {
  const [replica, first] = [replicas[0], proxies[0]];
  if (replica === undefined || first === undefined) throw new Error('there is no replica');
  const tenant = ISOLATED[0] as Tenant;
  // The first request of a connection prepares statements; the second one is like all later ones.
  await sender.send(maker.plain(tenant, 1), replica);
  const boundaries: Boundary[] = [];
  const stop = first.watch(({ side, kind, text }, { position }) => {
    if (position >= 0) boundaries.push({ side, kind, text, position });
  });
  const status = await sender.send(maker.plain(tenant, 1), replica);
  stop();
  if (status !== 200) throw new Error(`the observed request was answered ${status}`);
  return boundaries;
}

function choose(grid: readonly ProxyCase[], cycles: number, slowCount: number, random: Random): readonly ProxyCase[] {
  const slow = random.shuffle(grid.filter((one) => one.slow)).slice(0, slowCount);
  const quick: ProxyCase[] = [];
  const all = grid.filter((one) => !one.slow);
  // When there are few cases they are repeated: the effect of one may show in the next.
  while (all.length > 0 && quick.length < cycles - slow.length) quick.push(...random.shuffle(all));
  quick.length = Math.min(quick.length, cycles - slow.length);
  return [...quick, ...slow];
}
