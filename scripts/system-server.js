#!/usr/bin/env node
/**
 * Runs tests on the newest PostgreSQL server of the system (`/usr/lib/postgresql/*`), instead of the embedded one:
 * `node scripts/system-server.js test/extensions/console/api …`. Its data is removed afterwards.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql';
/** The exit code for something that this machine does not have. */
const UNAVAILABLE = 77;
/**
 * As for the embedded server of the tests: the data is not kept, and it has no JIT, which takes seconds for the first
 * query of a session. The daemon switches it off in its own sessions.
 */
const SETTINGS = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0'],
  ...['max_connections=100', 'shared_buffers=64MB', 'jit=off'],
];

const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).sort((one, other) => Number(other) - Number(one)) : [];
const programs = versions
  .map((version) => join(VERSIONS, version, 'bin'))
  .find((path) => existsSync(join(path, 'initdb')));
if (programs === undefined) {
  process.stderr.write(`there is no PostgreSQL server in ${VERSIONS}\n`);
  process.exit(UNAVAILABLE);
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-system-server-'));
// PostgreSQL refuses to run as root. Debian's package creates this user.
const owner = process.getuid() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
chmodSync(folder, 0o755);
const data = join(folder, 'data');
const run = (name, ...values) => execFileSync(join(programs, name), values, { ...owner, cwd: folder, stdio: 'pipe' });

run('initdb', '-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
const options = [...SETTINGS, `unix_socket_directories=${folder}`, 'listen_addresses='].map((each) => `-c ${each}`);
run('pg_ctl', '-D', data, '-l', join(folder, 'log'), '-o', options.join(' '), '-w', 'start');
const url = `postgres://sluice:none@localhost:5432/postgres?host=${encodeURIComponent(folder)}`;
const tests = spawn(process.execPath, ['scripts/test.js', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_TEST_SERVER: url },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => tests.kill(signal));
tests.once('close', (code) => {
  run('pg_ctl', '-D', data, '-m', 'immediate', '-w', 'stop');
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 1;
});

function idOf(option) {
  return Number(execFileSync('id', [option, 'postgres']));
}
