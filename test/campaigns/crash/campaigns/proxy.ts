/**
 * A connection to the database breaks at one message: every boundary of a transaction times every fault. After each case the
 * replica must accept again; the judge looks at the end at what all of them have left.
 */
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { Random } from '../../../support/generators-random.ts';
import type { Findings } from '../check/findings.ts';
import type { Body } from '../load/body.ts';
import { Load } from '../load/load.ts';
import { LANES, type Tenant } from '../load/tenants.ts';
import type { FaultProxy } from '../proxy/fault-proxy.ts';
import type { Range } from '../stage/range.ts';
import type { Replica } from '../stage/replica.ts';
import { type Campaign, expectHits, hold } from './campaign.ts';
import { type Boundary, gridOf, type ProxyCase } from './grid.ts';

/** Cases that wait for the daemon's own deadline are held side by side, each on a replica of its own. */
const SLOW_LANES = 5;
/** Of the cycles, the slow ones: they take half a minute each. */
const SLOW_SHARE = 0.08;
/** An answer that does not wait for COMMIT comes visibly too early. */
const COMMIT_MS = 15;
/** These only end what hangs: the machine may be busy with other things. */
const RECOVERY_TIMEOUT_MS = 120000;
const SLOW_TIMEOUT_MS = 240000;

interface Lane {
  readonly replica: Replica;
  readonly proxy: FaultProxy;
  readonly tenant: Tenant;
}

export const proxy: Campaign = {
  name: 'proxy',
  summary: 'connections broken at every message of a transaction, in every way',
  cycles: { full: 300, short: 24 },
  run: (options) => {
    const slowCount = options.only === undefined ? Math.floor(options.cycles * SLOW_SHARE) : 0;
    const replicas = 2 + Math.min(slowCount, SLOW_LANES);
    return hold(options, { replicas, exporters: 'postgres' }, async (range, findings) => {
      const grid = gridOf(await census(range)).filter(({ name }) => name.includes(options.only ?? ''));
      const cases = choose(grid, options.cycles, slowCount, new Random(options.seed));
      const course = new Course(range, findings, options.say);
      const [quick, ...lanes] = range.replicas.flatMap((replica, index): Lane[] => {
        const proxy = range.proxies[index];
        const tenant = LANES[index];
        return proxy === undefined || tenant === undefined || index === 0 ? [] : [{ replica, proxy, tenant }];
      });
      if (quick === undefined) throw new Error('no replica to break');
      quick.proxy.slowCommits(COMMIT_MS);
      const slow = cases.filter((one) => one.slow);
      await Promise.all([
        course.walk(
          quick,
          cases.filter((one) => !one.slow),
        ),
        ...lanes.map((lane, index) =>
          course.walk(
            lane,
            slow.filter((_, position) => position % lanes.length === index),
          ),
        ),
      ]);
      return course.close();
    });
  },
};

class Course {
  readonly #range: Range;
  readonly #findings: Findings;
  readonly #say: (line: string) => void;
  #done = 0;
  #missed = 0;
  #slowest = { ms: 0, name: '' };

  constructor(range: Range, findings: Findings, say: (line: string) => void) {
    this.#range = range;
    this.#findings = findings;
    this.#say = say;
  }

  async walk(lane: Lane, cases: readonly ProxyCase[]): Promise<void> {
    for (const one of cases) {
      await this.#hold(lane, one);
      if (++this.#done % 25 === 0) this.#say(`proxy: ${this.#done} cases`);
    }
  }

  /** To be asked once, at the end. */
  close(): readonly string[] {
    const { ms, name } = this.#slowest;
    expectHits(this.#findings, this.#done - this.#missed, this.#done);
    return [
      `${this.#done} cases, ${this.#missed} whose message did not come`,
      `slowest recovery after a quick fault ${(ms / 1000).toFixed(1)} s: ${name}`,
    ];
  }

  async #hold({ replica, proxy, tenant }: Lane, one: ProxyCase): Promise<void> {
    const [sound] = this.#range.replicas;
    const shot = proxy.arm(one.rule);
    const load = new Load(this.#range, [replica, sound ?? replica], {
      senders: 0,
      seed: this.#done,
      pauseMs: 0,
      abandonPercent: 10,
    });
    const firsts = this.#bodies(tenant, one.slow).map((body) => this.#first(body, replica, load));
    await Promise.all(firsts);
    const healed = performance.now();
    proxy.heal();
    if (shot.hit === null) this.#missed++;
    const timeoutMs = one.slow ? SLOW_TIMEOUT_MS : RECOVERY_TIMEOUT_MS;
    const accepts = async (): Promise<true | undefined> =>
      (await this.#range.sender.send(this.#range.maker.plain(tenant, 1), replica)) === 200 ? true : undefined;
    if ((await waitFor(accepts, { timeoutMs })) === undefined)
      this.#findings.add('stuck', `no 200 within ${timeoutMs} ms after ${one.name}`);
    const ms = performance.now() - healed;
    if (!one.slow && ms > this.#slowest.ms) this.#slowest = { ms, name: one.name };
  }

  /** Quick cases meet the whole variety; slow ones hold locks for long, and must not keep others waiting. */
  #bodies(tenant: Tenant, slow: boolean): readonly Body[] {
    const { maker } = this.#range;
    const plain = maker.plain(tenant, 3);
    if (slow) return [plain, plain, maker.plain(tenant, 2)];
    return [plain, plain, maker.plain(tenant, 200), maker.next(), maker.next(), maker.next()];
  }

  async #first(body: Body, replica: Replica, load: Load): Promise<void> {
    const status = await this.#range.sender.send(body, replica);
    if (status === 'unknown' || status >= 500) await load.deliver(body);
  }
}

/** The messages of one transaction of one small request, as they pass by. */
async function census({ replicas, proxies, sender, maker }: Range): Promise<readonly Boundary[]> {
  const [replica, first] = [replicas[0], proxies[0]];
  if (replica === undefined || first === undefined) throw new Error('no replica to watch');
  const tenant = LANES[0] as Tenant;
  // The first request of a connection prepares statements; the second is like all that follow.
  await sender.send(maker.plain(tenant, 1), replica);
  const boundaries: Boundary[] = [];
  const stop = first.watch(({ side, kind, text }, { position }) => {
    if (position >= 0) boundaries.push({ side, kind, text, position });
  });
  const status = await sender.send(maker.plain(tenant, 1), replica);
  stop();
  if (status !== 200) throw new Error(`the request that was watched was answered ${status}`);
  return boundaries;
}

function choose(grid: readonly ProxyCase[], cycles: number, slowCount: number, random: Random): readonly ProxyCase[] {
  const slow = random.shuffle(grid.filter((one) => one.slow)).slice(0, slowCount);
  const quick: ProxyCase[] = [];
  const all = grid.filter((one) => !one.slow);
  // Few cases are held again and again: what one of them breaks may show in the next.
  while (all.length > 0 && quick.length < cycles - slow.length) quick.push(...random.shuffle(all));
  quick.length = Math.min(quick.length, cycles - slow.length);
  return [...quick, ...slow];
}
