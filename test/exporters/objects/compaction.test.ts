/** The schedule of the compaction: the daemon publishes and removes what its exporter stores. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { OwnCommands } from '../../../src/component/capabilities/own-commands.ts';
import { CommandSchedule } from '../../../src/component/command-schedule.ts';
import { scheduleOf } from '../../../src/exporters/objects/compaction.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { sluice } from '../../support/command-line.ts';
import { startCompaction } from '../../support/compaction-scene.ts';
import { startDaemon } from '../../support/daemon.ts';
import { type Executable, startExecutable } from '../../support/executable.ts';
import { longTest } from '../../support/long.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { postgresConfig } from '../../support/postgres-daemon.ts';
import { QUIET } from '../../support/quiet-logger.ts';
import { DAY_MS, HOUR_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const scene = await startCompaction(t, 'objects');
const query = async (text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> =>
  (await scene.client.query(text, [...values])).rows;
const sendSpan = async (): Promise<void> => {
  const start = BigInt(Date.now()) * 1_000_000n;
  const { status } = await send(scene.url, { body: JSON.stringify(aTraceRequest([aSpan({ start })])) });
  t.equal(status, 200);
};

t.test('a run starts only when there is something to do', async (t) => {
  const database = new Database().use({ connectionString: scene.databaseUrl });
  t.teardown(() => database.close());
  let calls = 0;
  let outcome = async (): Promise<string> => '[]';
  const commands: OwnCommands = {
    run: (words) => {
      t.same(words, ['compact', '--json']);
      calls++;
      return outcome();
    },
    open: () => t.fail('no session') as never,
  };
  const compaction = { older_than: HOUR_MS, keep: 30 * DAY_MS, interval: HOUR_MS };
  /** The number of runs of an hour. */
  const anHour = async (): Promise<number> => {
    const before = calls;
    await query(
      `UPDATE sluice.maintenance_state SET state = state || jsonb_build_object('started', (state ->> 'started')::float8 - 3600)
       WHERE name = 'compaction'`,
    );
    for (let tick = 0; tick < 2; tick++) {
      const schedule = new CommandSchedule(database, commands, scheduleOf({ to: '', compaction }), QUIET);
      schedule.start();
      await schedule.stop();
    }
    return calls - before;
  };
  t.equal(await anHour(), 0, 'nothing is stored');
  await sendSpan();
  t.equal(await anHour(), 0, 'a young part');
  await query("UPDATE sluice.parts SET received_at = now() - interval '2 hours'");
  t.equal(await anHour(), 1, 'a part of the age');
  await scene.run();
  t.equal(await anHour(), 0, 'it is published');
  outcome = () => Promise.reject(new Error('killed'));
  await query("UPDATE sluice.compactions SET published_at = published_at - interval '25 hours'");
  t.equal(await anHour(), 1, 'parts are to be removed');
  await query('DELETE FROM sluice.compactions');
  outcome = async () => '[]';
  t.equal(await anHour(), 1, 'a run that failed is repeated, because of its temporary files');
  t.equal(await anHour(), 0);
  await query("INSERT INTO sluice.lake_erasures (project) VALUES ('x')");
  t.equal(await anHour(), 1, 'an erasure');
  await query('DELETE FROM sluice.lake_erasures');
  await query("UPDATE sluice.lake_jobs SET day = day - 40, state = 'published'");
  t.equal(await anHour(), 1, 'an old file');
  await query('DELETE FROM sluice.lake_jobs');
  // A lake with files that the database does not know is refused.
  rmSync(join(scene.lake, 'lake'), { recursive: true });
  await query('DELETE FROM sluice.parts');
  await query("DELETE FROM sluice.maintenance_state WHERE name = 'compaction'");
});

function startRun(env: Readonly<Record<string, string>> = {}): Executable {
  const exporter = `objects: { to: "${scene.lake}", linger: 0s, compaction: { older_than: 0s, memory: 256MiB } }`;
  const config = postgresConfig({
    databaseUrl: scene.databaseUrl,
    exporters: 'objects',
    moreExporters: exporter,
  }).replace('service:', 'service:\n  shutdown_timeout: 10s');
  writeFileSync(join(scene.commands, 'sluice.yaml'), config);
  return startExecutable(['run'], scene.commands, env);
}

async function end(run: Executable): Promise<void> {
  run.child.kill('SIGTERM');
  t.equal(await run.ended, 0);
}

t.test('an archive beside it is refused at the start', async (t) => {
  const config = postgresConfig({
    databaseUrl: scene.databaseUrl,
    exporters: 'postgres, objects',
    moreExporters: `objects: { to: "${scene.lake}" }`,
  });
  const start = (text: string) => startDaemon(t, { config: text });
  const archived = config.replace('postgres: {}', 'postgres: { archive: { to: to } }');
  await t.rejects(start(archived), {
    message: /objects and the archive of postgres would write the same records into the lake/u,
    hint: /Remove `archive` of the postgres exporter/u,
  });
  await start(archived.replace(`"${scene.lake}"`, `"${scene.lake}", compaction: { enabled: false }`));
});

longTest('the daemon publishes the parts, and says what is missing for it', async (t) => {
  await sendSpan();
  const hook = new URL('../../support/without-duckdb.js', import.meta.url);
  const without = startRun({ NODE_OPTIONS: `--import ${hook}` });
  await without.until('the compaction failed and is tried again');
  t.match(without.output.err, /npm install @duckdb\/node-api@1\.5\.6-r\.1\b/u);
  await end(without);
  await query("DELETE FROM sluice.maintenance_state WHERE name = 'compaction'");
  const daemon = startRun();
  await daemon.until('the compaction is complete');
  t.match(scene.files(), [/^lake\/spans\/day=/u]);
  const status = await sluice(['status', '--config', 'sluice.yaml'], { folder: scene.commands });
  t.match(status.out, /compaction +(?:running, )?last complete \d+[sm]/u, status.err);
  await end(daemon);
  t.same(await query('SELECT FROM sluice.compactions WHERE published_at IS NULL'), []);
});
