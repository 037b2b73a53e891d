/** A command that ends early, by a signal or because its output cannot be written, leaves nothing of its own behind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CompleteFile } from '../../src/cli/complete-file.ts';
import { EarlyEnd } from '../../src/cli/early-end.ts';
import { BIN, openFolder, startExecutable, watchExecutable } from '../support/executable.ts';
import { eventually } from '../support/eventually.ts';
import { isLong } from '../support/long.ts';
import { openMigrated } from '../support/migrated.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const skip = process.platform === 'win32';
const SIGNALS = isLong ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : (['SIGHUP'] as const);

/** The signal that ended the process. */
async function signalOf(child: ChildProcess): Promise<NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  return child.signalCode;
}

t.test('a server that a command has started stops with it', { skip }, async (t) => {
  const folder = openFolder(t);
  const env = { ...process.env, DATABASE_URL: '', NO_COLOR: '1' };
  const serverOf = (data: string): string => join(folder, data, 'postgres');
  const isRunning = (data: string): boolean => existsSync(join(serverOf(data), 'cluster', 'postmaster.pid'));
  const sluice = (output: string, ...args: readonly string[]) =>
    spawnSync(process.execPath, [BIN, ...args], {
      cwd: folder,
      env,
      stdio: ['ignore', openSync(output, 'w'), 'pipe'],
      encoding: 'utf8',
    });

  const migrated = sluice('/dev/full', 'migrate');
  t.equal(migrated.status, 1);
  t.match(migrated.stderr, /error: the output cannot be written: the disk is full\n {2}hint: Free/u);
  t.notOk(isRunning('data'), 'after output that cannot be written');

  t.equal(sluice('/dev/null', 'backup', 'a.backup').status, 0);
  const part = readFileSync(join(folder, 'a.backup')).subarray(0, -100);
  for (const signal of SIGNALS) {
    const restore = ['restore', '-', '--set', 'extensions.postgres.data_dir=./other'];
    const child = spawn(process.execPath, [BIN, ...restore], { cwd: folder, env, stdio: ['pipe', 'ignore', 'ignore'] });
    child.stdin.on('error', () => undefined);
    child.stdin.write(part);
    await eventually('the server listens', () => {
      const sockets = join(serverOf('other'), 'socket');
      return existsSync(sockets) && readdirSync(sockets).some((name) => name.startsWith('.s.PGSQL'));
    });
    child.kill(signal);
    t.equal(await signalOf(child), signal);
    t.notOk(isRunning('other'), signal);
  }
});

t.test('a key that cannot be shown is revoked', { skip }, async (t) => {
  const { url: databaseUrl, connect } = await openMigrated(t);
  const client = await connect();
  await client.query(`INSERT INTO sluice.projects (name) VALUES ('shop')`);
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl }));
  for (const [output, isRevoked] of [
    ['/dev/full', true],
    ['/dev/null', false],
  ] as const) {
    const { status, stderr } = spawnSync(process.execPath, [BIN, 'key', 'create', '-p', 'shop', '-c', 'a.yaml'], {
      cwd: folder,
      stdio: ['ignore', openSync(output, 'w'), 'pipe'],
      encoding: 'utf8',
    });
    t.equal(status, isRevoked ? 1 : 0, stderr);
    t.equal(/so it was revoked/u.test(stderr), isRevoked);
    const { rows } = await client.query('DELETE FROM sluice.api_keys RETURNING revoked_at IS NOT NULL AS revoked');
    t.same(rows, [{ revoked: isRevoked }], output);
  }
});

t.test('an incomplete file is removed', { skip }, async (t) => {
  const { url: databaseUrl, connect } = await openMigrated(t);
  const client = await connect();
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl }));
  await client.query('BEGIN');
  await client.query('LOCK TABLE sluice.projects, sluice.spans IN ACCESS EXCLUSIVE MODE');
  for (const [signal, ...args] of [
    ['SIGINT', 'backup', 'a.out'],
    ['SIGTERM', 'export', '-o', 'a.out'],
  ] as const) {
    const { child } = startExecutable([...args, '-c', 'a.yaml'], folder);
    await eventually('the file is begun', () => existsSync(join(folder, 'a.out.partial')));
    child.kill(signal);
    t.equal(await signalOf(child), signal);
    t.same(readdirSync(folder), ['a.yaml'], args.join(' '));
  }
  await client.query('ROLLBACK');
});

t.test('the removal of a file is prepared before the file exists', async (t) => {
  const path = join(openFolder(t), 'a.out');
  const existed: boolean[] = [];
  const earlyEnd = new EarlyEnd(process);
  earlyEnd.prepare = () => {
    existed.push(existsSync(`${path}.partial`));
    return () => undefined;
  };
  const file = await CompleteFile.open(path, earlyEnd);
  t.ok(existsSync(`${path}.partial`));
  await file.abandon();
  t.same(existed, [false]);
});

t.test('the folder for temporary files of an archive run, which holds content, is removed', { skip }, async (t) => {
  const { url: databaseUrl, connect } = await openMigrated(t);
  const client = await connect();
  const folder = openFolder(t);
  const temporary = join(folder, 'temporary');
  mkdirSync(temporary);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl }));
  await client.query('BEGIN');
  await client.query('LOCK TABLE sluice.lake_jobs IN ACCESS EXCLUSIVE MODE');
  for (const signal of SIGNALS) {
    const words = ['archive', '--to', 'lake', '-c', 'a.yaml'];
    const { child } = startExecutable(words, folder, { TMPDIR: temporary });
    await eventually('the folder is there', () => readdirSync(temporary).length > 0);
    child.kill(signal);
    t.equal(await signalOf(child), signal);
    t.same(readdirSync(temporary), [], signal);
  }
  await client.query('ROLLBACK');
});

t.test('a daemon whose greeting cannot be written runs on', { skip }, async (t) => {
  const { url: databaseUrl } = await openMigrated(t);
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl }));
  const line = 'exec "$0" "$@" >/dev/full';
  const daemon = watchExecutable(spawn('sh', ['-c', line, process.execPath, BIN, '-c', 'a.yaml'], { cwd: folder }));
  await daemon.until('warning: the output cannot be written: the disk is full');
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
  t.match(daemon.output.err, '"msg":"stopped"');
});
