// Commands that need the running daemon, with the shipped configuration and in other folders.
import { chmodSync, existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isLong, longTest } from '../support/long.ts';
import { sluice } from '../support/command-line.ts';
import { folderWithDatabase } from '../extensions/postgres/embedded/scene.ts';
import { folderOf } from '../support/config-files.ts';
import { type Executable, startExecutable } from '../support/executable.ts';

t.setTimeout(300_000);

const KEY = 'a-key-of-thirty-two-characters-00';
const SIDECAR = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors: { auth: { keys: [{ key: ${KEY}, project: demo }] }, environment: }
exporters: { file: { path: telemetry.ndjson } }
service:
  ledger: memory
  telemetry: { metrics: { endpoint: "127.0.0.1:0" } }
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] } }
`;
const skip = process.platform === 'win32';

async function start(t: Test, folder: string, args: readonly string[] = []): Promise<Executable> {
  const daemon = startExecutable(args, folder);
  t.teardown(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
  await daemon.until('everything is ready');
  return daemon;
}

longTest('a read while the embedded server cannot be restarted names the daemon that tries it', { skip }, async (t) => {
  const folder = await folderWithDatabase(t);
  const database = 'extensions: { postgres: { data_dir: . } }';
  const text = SIDECAR.replace('ledger: memory', 'extensions: [postgres]');
  writeFileSync(join(folder, 'sluice.yaml'), `${database}\n${text}`);
  const daemon = await start(t, folder);
  t.match(await sluice(['traces'], { folder }), { code: 0 });
  const wal = join(folder, 'postgres/cluster/pg_wal');
  chmodSync(wal, 0);
  t.teardown(() => chmodSync(wal, 0o700));
  const [pid] = readFileSync(join(folder, 'postgres/cluster/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  await daemon.until('did not start');
  t.match(await sluice(['traces'], { folder }), {
    code: 1,
    err: `error: the embedded server in ${folder} does not answer\n  hint: The daemon (pid ${daemon.child.pid}) starts it.`,
  });
  const { out } = await sluice(['status'], { folder });
  t.match(out, /Permission denied \(this process has no permission/);
  t.match(out, /^embedded server +does not run$/mu);
});

t.test('status and reload find the daemon of the folder without any option', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': SIDECAR });
  t.match(await sluice(['status'], { folder }), { code: 1, err: /no daemon runs with this configuration/u });
  t.match(await sluice(['reload'], { folder }), { code: 1, err: /no daemon runs with this configuration/u });
  const daemon = await start(t, folder);
  const path = join(folder, 'sluice.yaml');
  const { out } = await sluice(['status'], { folder });
  t.match(out, new RegExp(`process +pid ${daemon.child.pid}, version \\d+\\.\\d+\\.\\d+\\S*, in ${folder}\n`, 'u'));
  t.match(out, new RegExp(`configuration +${path}\n`, 'u'));
  t.match(out, /^running, ready, up \d+ s\n/u);
  const status: unknown = JSON.parse((await sluice(['status', '--json'], { folder })).out);
  const address = /"endpoint":"([^"]+)"[^\n]*listening for OTLP\/HTTP/u.exec(daemon.output.err)?.[1] ?? 'unknown';
  const otlp = { http: `http://${address}`, grpc: null };
  t.match(status, { pid: daemon.child.pid, configuration: [path], folder, database: null, otlp });
  t.match(out, new RegExp(`OTLP/HTTP +http://${address}\nmetrics +http://127\\.0\\.0\\.1:[1-9]`, 'u'));

  const reloaded = await sluice(['reload'], { folder });
  t.match(reloaded, { code: 0, out: `The daemon with pid ${daemon.child.pid} has loaded ${path} again.\n` });
  t.match(daemon.output.err, 'the configuration was loaded again');
  writeFileSync(path, SIDECAR.replace('project:', 'projct:'));
  t.match(await sluice(['reload'], { folder }), {
    code: 1,
    err: /the configuration was not loaded; the running one stays in use\nsluice\.yaml:3:\d+: error: unknown option "projct"/u,
  });
  const json = await sluice(['reload', '--json'], { folder });
  t.equal(json.code, 1);
  t.match(JSON.parse(json.out), { loaded: false, problems: [/unknown option "projct"/u] });
});

t.test('of daemons with the same configuration, that of the folder is meant', { skip }, async (t) => {
  const shared = join(folderOf({ 'shared.yaml': SIDECAR }), 'shared.yaml');
  const [first, second, other] = [folderOf({}), folderOf({}), folderOf({})];
  const daemon = await start(t, first, ['--config', shared]);
  await start(t, second, ['--config', shared]);
  const { out, err } = await sluice(['status', '--config', shared], { folder: first });
  t.match(out, `pid ${daemon.child.pid},`, err);
  const elsewhere = await sluice(['status', '--config', shared], { folder: other });
  t.match(elsewhere, { code: 1, err: /^error: several daemons run with this configuration\n/u });
});

longTest('commands that send find a daemon whose port the configuration leaves open', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': SIDECAR });
  const bench = ['bench', '--key', KEY, '--yes', '--kind', 'small-spans', '--rate', '64', '--duration', '1s', '--json'];
  t.match(await sluice(bench, { folder }), { code: 1, err: /no daemon runs with this configuration/u });
  await start(t, folder);
  const { code, out, err } = await sluice(bench, { folder });
  t.equal(code, 0, err);
  t.match(JSON.parse(out), { endpoint: /^http:\/\/127\.0\.0\.1:[1-9]/u, daemon_memory_bytes: Number });
});

t.test('a daemon of an earlier version and one that ends are told apart', { skip }, async (t) => {
  const folder = folderOf({
    'sluice.yaml': SIDECAR.replace('telemetry: {', 'telemetry: { status: { socket: s.sock },'),
  });
  let answer = '{}\n';
  const server = createServer((connection) => void connection.on('error', () => undefined).end(answer));
  t.teardown(() => server.close());
  await new Promise<void>((listening) => server.listen(join(folder, 's.sock'), listening));
  const tapped = await sluice(['tap'], { folder });
  t.match(tapped, { code: 1, err: /^error: the daemon is of a version that cannot be tapped\n/u });
  answer = '';
  t.match(await sluice(['status'], { folder }), { code: 1, err: /^error: the daemon has ended without an answer\n/u });
});

t.test('a second start names the daemon that has the port', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': SIDECAR });
  const { child, output } = await start(t, folder);
  const address = /"endpoint":"(127\.0\.0\.1:\d+)"[^\n]*listening for OTLP\/HTTP/u.exec(output.err)?.[1] ?? 'unknown';
  const { code, err } = await sluice(['run', '--set', `receivers.otlp.protocols.http.endpoint=${address}`], {
    folder: folderOf({ 'sluice.yaml': SIDECAR }),
  });
  t.equal(code, 1);
  t.match(err, `${address} is already in use\n  hint: Stop the other program, or set receivers.otlp`);
  t.match(err, `pid ${child.pid} in ${folder} with sluice.yaml`);
});

t.test('all endpoints that are taken are named at once', { skip }, async (t) => {
  const otlp = ['http', 'grpc'].map((protocol) => `receivers.otlp.protocols.${protocol}.endpoint`);
  const options = ['service.telemetry.metrics.endpoint', ...otlp];
  const taken = await Promise.all(options.map(async (option) => ({ option, endpoint: await hold(t) })));
  const words = taken.flatMap(({ option, endpoint }) => ['--set', `${option}=${endpoint}`]);
  const { code, err } = await sluice(['run', ...words], { folder: folderOf({ 'sluice.yaml': SIDECAR }) });
  t.equal(code, 1);
  t.match(
    err,
    `${taken.map(({ endpoint }) => endpoint).join(', ')} are already in use\n  hint: Stop the other programs`,
  );
  for (const option of options) t.match(err, new RegExp(`--set ${option}=127\\.0\\.0\\.1:\\d+`, 'u'));
});

/** A port that another program holds. */
async function hold(t: Test): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('from another folder a daemon is found by its pid or its configuration', { skip }, async (t) => {
  const folder = folderOf({ 'own.yaml': SIDECAR });
  const elsewhere = folderOf({});
  const { child } = await start(t, folder, ['--config', 'own.yaml']);
  const path = join(folder, 'own.yaml');
  t.match(await sluice(['status', '--pid', String(child.pid)], { folder: elsewhere }), { code: 0 });
  t.match(await sluice(['reload', '--config', path], { folder: elsewhere }), { code: 0 });
  const missed = await sluice(['status'], { folder: elsewhere });
  t.equal(missed.code, 1);
  t.match(missed.err, `pid ${child.pid} in ${folder} with own.yaml`);
});

longTest('of two daemons in a folder, the configuration or the pid decides', { skip }, async (t) => {
  const folder = folderOf({ 'one.yaml': SIDECAR, 'two.yaml': SIDECAR.replace('telemetry.ndjson', 'two.ndjson') });
  await start(t, folder, ['--config', 'one.yaml']);
  const second = await start(t, folder, ['--config', 'two.yaml']);
  t.match(await sluice(['status'], { folder }), { code: 1, err: /several daemons run here\n.*--pid/u });
  const { out } = await sluice(['status', '--config', 'two.yaml', '--json'], { folder });
  t.match(JSON.parse(out), { pid: second.child.pid });
});

longTest('the socket of a killed daemon does not count', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': SIDECAR });
  const daemon = startExecutable([], folder);
  await daemon.until('everything is ready');
  daemon.child.kill('SIGKILL');
  await daemon.ended;
  t.match(await sluice(['status'], { folder }), { code: 1, err: /no daemon runs/u });
});

/** Ordinary runs try one in so many commands. */
const ORDINARY_STEP = 4;

t.test('no command but run and migrate creates a database, and it names the running daemons', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': SIDECAR });
  const { child } = await start(t, folder);
  const commands = [
    ['traces'],
    ['trace', '00'],
    ['usage'],
    ['project', 'list'],
    ['project', 'create', 'shop'],
    ['project', 'set-plan', 'shop', '--plan', 'paid'],
    ['key', 'create'],
    ['key', 'list'],
    ['key', 'revoke', 'x'],
    ['environment', 'set', 'a', 'b', '--capture-content', 'on'],
    ['environment', 'list'],
    ['prices', 'list'],
    ['prices', 'remove', 'x'],
    ['outbox', 'list'],
    ['outbox', 'dead'],
  ];
  for (const words of commands.filter((_, at) => isLong || at % ORDINARY_STEP === 0)) {
    const empty = folderOf({});
    const { code, err } = await sluice(words, { folder: empty, env: { DATABASE_URL: '' } });
    t.equal(code, 1, words.join(' '));
    t.match(err, /there is no database in \.\/data yet\n {2}hint: /u);
    t.match(err, `pid ${child.pid} in ${folder} with sluice.yaml`);
    t.strictSame(readdirSync(empty), []);
  }
  t.notOk(existsSync(join(folder, 'data')));
});
