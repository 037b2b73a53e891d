// `sluice move`: everything arrives once, an interrupted move continues, and only one database accepts data.
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../support/long.ts';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { BIN } from '../support/executable.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { storeRecords } from '../support/stored-records.ts';
import { tableContents, tableStructure, withClient } from '../support/table-contents.ts';

t.setTimeout(300_000);

/** Any advisory lock. */
const GATE = 4711;
/** Stops the copy of a table that comes after the spans. */
const CLOSE_GATE = `
  CREATE FUNCTION public.gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$;
  CREATE TRIGGER gate BEFORE INSERT ON sluice.usage_months FOR EACH ROW EXECUTE FUNCTION public.gate()`;
const WAITING = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'";

const daemon = await startPostgresDaemon(t);
await storeRecords(daemon);
const folder = folderOf({ 'source.yaml': postgresConfig({ databaseUrl: daemon.databaseUrl }) });
const sluice = (...args: readonly string[]): Promise<Outcome> => call(args, { folder });
const target = await createDatabase(t);
writeFileSync(join(folder, 'target.yaml'), postgresConfig({ databaseUrl: target.url }));
const MOVE = ['move', '--to', target.url, '-c', 'source.yaml'];
const NEW_FOLDER = ['move', '--to', 'embedded:new', '-c', 'source.yaml'];

t.test('a database that a daemon uses is not moved', async (t) => {
  const refusal = { code: 1, out: '', err: /a daemon or a command uses this database[\s\S]*Stop all daemons/u };
  t.match(await sluice(...MOVE), refusal);
  t.match(await sluice(...NEW_FOLDER), refusal);
  t.notOk(existsSync(join(folder, 'new')), 'no server is made for a move that is refused');
  await daemon.stop();
});

t.test('a database is not moved to itself', async (t) => {
  t.match(await sluice('move', '--to', daemon.databaseUrl, '-c', 'source.yaml'), {
    code: 1,
    err: /this database itself/u,
  });
  t.match(await sluice('move', '-c', 'source.yaml'), { code: 2, err: /name the target/u });
});

t.test('a target that is none is refused before any database is opened, with the targets that there are', async (t) => {
  const nowhere = folderOf({ 'source.yaml': postgresConfig({ databaseUrl: 'postgres://127.0.0.1:1/none' }) });
  mkdirSync(join(nowhere, 'data'));
  const refused = (...to: readonly string[]): Promise<Outcome> =>
    call(['move', '--to', ...to, '-c', 'source.yaml'], { folder: nowhere });
  const forms = /--to postgres:\/\/user:password@host:5432\/database for a server, or --to embedded:DIR/u;
  t.match(await refused('nope'), {
    code: 2,
    out: '',
    err: /--to "nope" is no target: it begins neither with postgres:/u,
  });
  t.match(await refused('nope'), { err: forms });
  t.match(await refused('data'), { code: 2, err: /For the embedded server in this folder write --to embedded:data/u });
  t.match(await refused('embedded:'), { code: 2, err: /names no folder[\s\S]*--to embedded:\.\/data/u });
  const secret = await refused('mysql://u:s3cret@host/db');
  t.match(secret, { code: 2, err: forms });
  t.notMatch(secret.err, /s3cret/u);
  t.match(await refused('postgres://u:p@host/db?sslmode=x'), {
    code: 2,
    err: /the URL of --to cannot be used: its sslmode is not known/u,
  });
});

t.test(
  'a move that is killed in the middle leaves the source usable and the target unusable, and continues',
  async (t) => {
    t.match(await sluice('migrate', '-c', 'target.yaml'), { code: 0 });
    await withClient(target.url, async (client) => {
      await client.query(CLOSE_GATE);
      await client.query('SELECT pg_advisory_lock($1)', [GATE]);
      const child = spawn(process.execPath, [BIN, ...MOVE], { cwd: folder, stdio: 'ignore' });
      const waits = async (): Promise<true | undefined> =>
        (await client.query(WAITING)).rowCount === 0 ? undefined : true;
      t.ok(await waitFor(waits, { timeoutMs: PATIENCE_MS }), 'it is in the middle');
      child.kill('SIGKILL');
      await once(child, 'close');
      await client.query('SELECT pg_advisory_unlock($1)', [GATE]);
    });
    t.match(await sluice('migrate', '-c', 'target.yaml'), {
      code: 1,
      err: /a move to this database has not finished/u,
    });
    t.match(await sluice('backup', 'a.backup', '-c', 'target.yaml'), { code: 1, err: /has not finished/u });
    t.match(await sluice('project', 'create', 'late', '-c', 'source.yaml'), { code: 0 });
    // Other rows in a table that was copied, and a partition that the source does not have any more.
    await withClient(daemon.databaseUrl, (client) => client.query("DELETE FROM sluice.outbox WHERE signal = 'logs'"));
    t.match(await sluice(...MOVE), {
      code: 0,
      out: /^Moved \d+ rows\. Set extensions\.postgres\.url to/u,
      err: /an earlier attempt had copied: \d/u,
    });
    t.same(await tableContents(target.url), await tableContents(daemon.databaseUrl));
    t.same(await tableStructure(target.url), await tableStructure(daemon.databaseUrl));
  },
);

t.test('afterwards only the target accepts data, until the move is undone', async (t) => {
  t.match(await sluice('migrate', '-c', 'target.yaml'), { code: 0, out: 'The schema is current.\n' });
  const moved = /the data of this database was moved to another one[\s\S]*sluice move --undo/u;
  t.match(await sluice('migrate', '-c', 'source.yaml'), { code: 1, err: moved });
  t.match(await sluice('project', 'create', 'lost', '-c', 'source.yaml'), { code: 1, err: moved });
  t.match(await sluice(...MOVE), { code: 1, err: moved });
  t.match(await sluice(...NEW_FOLDER), { code: 1, err: moved });
  t.notOk(existsSync(join(folder, 'new')));
  t.match(await sluice('traces', '-c', 'source.yaml'), { code: 0 });
  t.match(await sluice('backup', 'a.backup', '-c', 'source.yaml'), { code: 0 });
  t.match(await sluice('move', '--undo', '-c', 'source.yaml'), { code: 0 });
  t.match(await sluice('move', '--undo', '-c', 'source.yaml'), { code: 1, err: /was not moved away/u });
  t.match(await sluice('project', 'create', 'kept', '-c', 'source.yaml'), { code: 0 });
  t.match(await sluice(...MOVE), { code: 1, err: /the target is not empty/u });
});

longTest('into the folder of an embedded server, and back from it', async (t) => {
  const data = join(folder, 'data');
  const embedded = [
    '-c',
    'source.yaml',
    '--set',
    'extensions.postgres.url=',
    '--set',
    `extensions.postgres.data_dir=${data}`,
  ];
  t.match(await sluice('move', '--to', 'embedded:data', '-c', 'source.yaml'), {
    code: 0,
    out: /data_dir to .*data, without a url/u,
  });
  const { url } = await createDatabase(t);
  t.match(await sluice('move', '--to', url, ...embedded), { code: 0 });
  t.same(await tableContents(url), await tableContents(daemon.databaseUrl));
});
