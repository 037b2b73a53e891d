/**
 * kill -9 of a daemon under load. Half of the kills are at a random time, the other half between two messages of a
 * transaction, where an acknowledgement before the commit shows.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Random } from '../../../support/generators-random.ts';
import { COMMIT_SENT, COMMITTED, type Rule } from '../proxy/fault.ts';
import { type Scenario, expectHits, runScenario, startLoad } from './scenario.ts';
import type { Testbed, TestbedOptions } from '../testbed/testbed.ts';

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
/** When the message does not arrive in this time, the kill is at a random time. */
const MOMENT_TIMEOUT_MS = 20000;

const killing =
  (exporters: TestbedOptions['exporters']): Scenario['run'] =>
  (options) =>
    runScenario(options, { replicas: 2, exporters }, async (testbed, findings) => {
      const random = new Random(options.seed);
      const load = startLoad(testbed, options.seed);
      let atMessage = 0;
      for (let cycle = 1; cycle <= options.cycles; cycle++) {
        if (await killOnce(testbed, random, cycle)) atMessage++;
        if (cycle % 10 === 0) options.report(`${exporters}: ${cycle} of ${options.cycles}`);
      }
      await load.stop();
      expectHits(findings, atMessage, Math.floor(options.cycles / 2));
      return [`${atMessage} of ${options.cycles} kills at a chosen message`];
    });

export const kill: Scenario = {
  name: 'kill',
  summary: 'kill -9 of a daemon under load, half of them between two chosen messages',
  cycles: { full: 100, short: 4 },
  run: killing('postgres, file'),
};

export const objects: Scenario = {
  name: 'objects',
  summary: 'the same with records in objects only',
  cycles: { full: 100, short: 4 },
  run: killing('objects'),
};

export const objectsBeside: Scenario = {
  name: 'objects-beside',
  summary: 'the same with records in objects and in PostgreSQL',
  cycles: { full: 50, short: 4 },
  run: killing('postgres, objects'),
};

/** Kills and restarts one replica. Returns whether it was killed at the chosen message. */
async function killOnce(testbed: Testbed, random: Random, cycle: number): Promise<boolean> {
  const index = random.below(testbed.replicas.length);
  const [replica, proxy] = [testbed.replicas[index], testbed.proxies[index]];
  if (replica === undefined || proxy === undefined) throw new Error('no replica to kill');
  await pause(random.below(LONGEST_LIFE_MS));
  let isAtMessage = false;
  if (cycle % 2 === 0) {
    const { name: _name, ...moment } = random.pick(MOMENTS);
    const where = random.pick(['before', 'after'] as const);
    const armed = proxy.arm({
      ...moment,
      nth: 1 + random.below(4),
      fault: { kind: 'call', where, action: () => replica.kill() },
    });
    await Promise.race([armed.fired, pause(MOMENT_TIMEOUT_MS)]);
    isAtMessage = armed.hit !== null;
    armed.disarm();
  }
  replica.kill();
  await replica.ended();
  await replica.start();
  return isAtMessage;
}
