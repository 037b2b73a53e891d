/**
 * kill -9 of a daemon under load. Half of the kills come at a random time, the other half between two messages of a
 * transaction, where a daemon that acknowledges too early or too late is found out.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import { COMMIT_SENT, COMMITTED, type Rule } from '../proxy/fault.ts';
import { type Campaign, expectHits, hold, startLoad } from './campaign.ts';
import type { Range } from '../stage/range.ts';

type Moment = Omit<Rule, 'fault'> & { readonly name: string };

const MOMENTS: readonly Moment[] = [
  { name: 'marker set', side: 'backend', kind: 'CommandComplete', text: /^INSERT/ },
  { name: 'COPY begun', side: 'frontend', text: /^COPY/ },
  { name: 'in the COPY', side: 'frontend', kind: 'CopyData' },
  { name: 'COPY done', side: 'backend', kind: 'CommandComplete', text: /^COPY/ },
  { name: 'COMMIT', ...COMMIT_SENT },
  { name: 'committed', ...COMMITTED },
  { name: 'ready again', side: 'backend', kind: 'ReadyForQuery', text: /^I/ },
];
const LONGEST_LIFE_MS = 600;
/** The moment a kill was meant for may not come; then it is an ordinary one. */
const MOMENT_TIMEOUT_MS = 20000;

export const kill: Campaign = {
  name: 'kill',
  summary: 'kill -9 of a daemon under load, half of them between two chosen messages',
  cycles: { full: 100, short: 4 },
  run: (options) =>
    hold(options, { replicas: 2, exporters: 'postgres, file' }, async (range, findings) => {
      const random = new Random(options.seed);
      const load = startLoad(range, options.seed);
      let aimed = 0;
      for (let cycle = 1; cycle <= options.cycles; cycle++) {
        if (await killOnce(range, random, cycle)) aimed++;
        if (cycle % 10 === 0) options.say(`kill: ${cycle} of ${options.cycles}`);
      }
      await load.stop();
      expectHits(findings, aimed, Math.floor(options.cycles / 2));
      return [`${aimed} of ${options.cycles} kills at a chosen message`];
    }),
};

/** Kills one replica and brings it back; true when it died at a chosen message. */
async function killOnce(range: Range, random: Random, cycle: number): Promise<boolean> {
  const index = random.below(range.replicas.length);
  const [replica, proxy] = [range.replicas[index], range.proxies[index]];
  if (replica === undefined || proxy === undefined) throw new Error('no replica to kill');
  await pause(random.below(LONGEST_LIFE_MS));
  let isAimed = false;
  if (cycle % 2 === 0) {
    const { name: _name, ...moment } = random.pick(MOMENTS);
    const where = random.pick(['before', 'after'] as const);
    const shot = proxy.arm({
      ...moment,
      nth: 1 + random.below(4),
      fault: { kind: 'call', where, action: () => replica.kill() },
    });
    await Promise.race([shot.fired, pause(MOMENT_TIMEOUT_MS)]);
    isAimed = shot.hit !== null;
    shot.disarm();
  }
  replica.kill();
  await replica.ended();
  await replica.start();
  return isAimed;
}
