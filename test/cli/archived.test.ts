/** What the reading commands print must not depend on where a day is: in PostgreSQL, or in the lake. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { CLOSED_MS, dropDays, makeScene } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { isLong } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { spanIdOf, storeClaims, storeLog, storeSpan, storeStory } from '../support/usage-rows.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
const traces = await storeStory(scene);

// A record that arrived later names the conversation of a trace of the archived days.
const late = { conversation_id: 'late-1', received_at: new Date().toISOString() };
if (traces['repeated'] !== undefined) await storeLog(scene, { ...traces['repeated'], at: 8030 }, late);

const sluice = (...args: readonly string[]): Promise<Outcome> => call(args, scene);

const idOf = (name: string): string => traces[name]?.id ?? '';
const TRACES = [
  ['trace', idOf('agent'), '--json'],
  ['trace', idOf('agent').slice(0, 12), '--content'],
  ['trace', idOf('repeated'), '--json', '--content'],
  ...['midnight', 'alone'].map((name) => ['trace', idOf(name), '--json']),
];

/** The output of commands, which must succeed. */
async function outputs(commands: readonly (readonly string[])[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const args of commands) {
    const { code, out, err } = await sluice(...args);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${err}`);
    found.push(out);
  }
  return found;
}

function same(t: Test, commands: readonly (readonly string[])[], found: readonly string[], wanted: readonly string[]) {
  for (const [index, args] of commands.entries()) t.equal(found[index], wanted[index], args.join(' '));
}

const USAGE = [
  ['usage', '--since', '90d', '--by', 'conversation'],
  ['usage', '--since', 'all', '--by', 'model'],
  // Begins within the first of the days.
  ['usage', '--since', `${Math.round((Date.now() - (CLOSED_MS + DAY_MS / 2)) / 60_000)}m`, '--by', 'service'],
  ['usage', '--since', 'all', '--by', 'day', '--project', 'shop'],
  ['usage', '--since', `${Math.round((Date.now() - (CLOSED_MS + DAY_MS / 2)) / 60_000)}m`, '--by', 'day', '--errors'],
];
const LISTS = [
  ['traces', '--json', '--limit', '3'],
  ['traces', '--json', '--limit', '100', '--project', 'shop', '--errors'],
  ['traces', '--json', '--search', 'hello', '--model', 'gpt-5-mini'],
];
const EXPORTS = [
  ['export'],
  ['export', '--what', 'logs', '--as', 'csv'],
  ['export', '--what', 'metrics'],
  ['export', '--what', 'traces', '--project', 'shop'],
  ['export', '--what', 'traces', '--as', 'otlp', '--model', 'gpt-5-mini'],
];
const RECORDS = [
  ['span', spanIdOf(2), '--json'],
  ['explain', idOf('repeated'), '--json'],
  ['conversation', 'late-1', '--json'],
  ['conversation', 'c-1', '--json'],
  ['conversation', 'c-', '--all'],
  ['span', spanIdOf(4), '--trace', idOf('agent').slice(0, 12)],
];
/** One command of each kind; a long test tries all. */
const ALL: readonly (readonly string[])[] = [RECORDS, TRACES, USAGE, LISTS, EXPORTS].flatMap((commands) =>
  isLong ? commands : commands.slice(0, commands === RECORDS ? 3 : 1),
);
const SOME = (isLong ? [RECORDS, TRACES, USAGE, LISTS, EXPORTS] : [TRACES]).flatMap((commands) => commands.slice(0, 1));

const wanted = await outputs(ALL);
const wantedOf = (commands: readonly (readonly string[])[]) => commands.map((args) => wanted[ALL.indexOf(args)] ?? '');

t.test('a day that is archived and still in PostgreSQL is not read from the lake', async (t) => {
  await scene.run();
  const { out, err } = await sluice('trace', idOf('agent'), '--json');
  t.equal(out, wantedOf(TRACES)[0]);
  t.equal(err, '');
});

t.test('a trace of a dropped day is read from the lake, with the same output', async (t) => {
  await dropDays(scene);
  const found = await outputs(ALL);
  same(t, ALL, found, wanted);
  const { err } = await sluice('trace', idOf('agent'));
  t.match(err, /^Read 1 archived day: \d[\d.]* KiB of 2 files in \/.*\/to\.\n$/u);
});

t.test('without its claim, which expires with the records, a trace is searched from the newest day on', async (t) => {
  await scene.query('DELETE FROM sluice.traces');
  same(t, SOME, await outputs(SOME), wantedOf(SOME));
  t.match(await sluice('trace', idOf('agent'), '--since', '3d'), { code: 1, err: /there is no trace/u });
  t.match(await sluice('trace', 'abcdef'), { code: 1, err: /there is no trace abcdef/u });
  t.match(await sluice('trace', idOf('agent'), '--project', 'blog'), { code: 1, err: /there is no trace/u });
});

t.test('late records are shown once, before they are archived and afterwards', async (t) => {
  const late = { id: idOf('agent'), project: 'shop', at: -2 * DAY_MS + 2000 };
  await storeSpan(scene, late, { number: 50, name: 'late' });
  for (const name of ['note', 'late note'])
    await storeLog(scene, { ...late, at: late.at - 1000 }, { event_name: name, span_id: `\\x${spanIdOf(2)}` });
  await storeClaims(scene);
  const namesOf = async (): Promise<string[]> => {
    const { out } = await sluice('trace', late.id, '--json');
    const { spans, logs } = JSON.parse(out);
    return [
      ...spans.map(({ name }: { name: string }) => name),
      ...logs.map((log: { event_name: string }) => log.event_name),
    ];
  };
  const names = ['agent', 'span 2', 'span 3', 'span 4', 'late', 'late note', 'note'];
  t.same((await namesOf()).sort(), [...names].sort());
  t.equal((await scene.run()).length, 2);
  t.same((await namesOf()).sort(), [...names].sort(), 'after they were archived');
  await scene.query('DELETE FROM sluice.spans; DELETE FROM sluice.logs');
  t.same((await namesOf()).sort(), [...names].sort(), 'after they expired');
});

t.test('log records of one time are explained in an order that does not depend on where they are', async (t) => {
  const trace = { id: 'e'.repeat(32), project: 'shop', at: 50_000_000 };
  for (const name of ['third', 'first', 'second']) await storeLog(scene, trace, { event_name: name });
  await storeClaims(scene);
  const { out } = await sluice('explain', trace.id, '--json');
  const names = JSON.parse(out).map(({ row }: { row: { event_name: string } }) => row.event_name);
  t.same(names, ['first', 'second', 'third']);
});

t.test('archived days that cannot be read are named, and the command shows what PostgreSQL has', async (t) => {
  const recent = { id: 'f'.repeat(32), project: 'shop', at: 40_000_000 };
  await storeSpan(scene, recent, { number: 60 });
  await storeClaims(scene);
  await scene.query("DELETE FROM sluice.maintenance_state WHERE name = 'lake'");
  const unplaced = await sluice('trace', recent.id);
  t.match(unplaced, { code: 0, out: /span 60/u });
  t.match(unplaced.err, /^Archived days \([\d-]+\) are not read: .*\n {2}hint: Name it with --lake DIR\.\n$/u);
  t.match(await sluice('trace', recent.id, '--lake', 'to'), { code: 0, err: /^Read 1 archived day/u });
  t.match(await sluice('trace', recent.id, '--lake', 'elsewhere'), { code: 1, err: /there is no archive in/u });
});
