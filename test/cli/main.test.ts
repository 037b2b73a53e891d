/** The command line from outside: output, exit code, and signals to a real process. */
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { sluice as call } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { BIN, startExecutable } from '../support/executable.ts';
import { isLong } from '../support/long.ts';

const KEY = 'a-key-of-thirty-two-characters-00';
const SIDECAR = `
extensions: { health_check: { endpoint: "127.0.0.1:0" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors: { auth: { keys: [{ key: "\${env:SLUICE_KEY}", project: demo }] }, environment: }
exporters: { file: { path: telemetry.ndjson } }
service:
  ledger: memory
  extensions: [health_check]
  telemetry: { metrics: { endpoint: "127.0.0.1:0" } }
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] } }
`;

t.setTimeout(300_000);

/** The command inside this process: its output and exit code. */
function sluice(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  return call(args, { folder: folderOf(files), env: { SLUICE_KEY: KEY } });
}

/** The command as a process. */
async function execute(args: readonly string[], files: Readonly<Record<string, string>> = {}) {
  const { ended, output } = startExecutable(args, folderOf(files), { SLUICE_KEY: KEY });
  return { code: await ended, ...output };
}

t.test(
  'a working directory that was removed is no fault of Sluice',
  { skip: process.platform === 'win32' },
  async (t) => {
    const bin = fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url));
    const line = 'cd "$1" && rmdir "$1" && exec "$2" "$3" validate';
    const { status, stderr } = spawnSync('sh', ['-c', line, 'sh', folderOf({}), process.execPath, bin], {
      encoding: 'utf8',
    });
    t.equal(status, 1);
    t.match(stderr, /^error: the working directory was removed\n {2}hint: /u);
  },
);

t.test('a version of Node that is too old is named with the version that is needed', async (t) => {
  const { engines } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
  const needed = engines.node.replace('>=', '');
  const run = (version: string) => {
    const claim = `Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
    const args = ['--import', `data:text/javascript,${encodeURIComponent(claim)}`, BIN, '--version'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    return { status, stdout, stderr };
  };
  for (const version of ['12.22.12', '18.20.8', '20.9.0']) {
    const { status, stdout, stderr } = run(version);
    t.same({ status, stdout }, { status: 1, stdout: '' }, version);
    t.match(stderr, new RegExp(`^error: Sluice needs Node ${needed} or newer; this is Node ${version}\n {2}hint: `));
  }
  for (const version of [needed, '100.0.0']) t.match(run(version), { status: 0, stderr: '' }, version);
  // Versions before 14 do not know `await` outside functions, and none loads a module that it has no parts of.
  const source = readFileSync(BIN, 'utf8');
  t.notMatch(source, /^await |\?\.|\?\?/mu, 'the file can be read by old versions');
  t.same(
    [...source.matchAll(/^import .* from '(.*)'/gmu)].map(([, from]) => from),
    ['node:fs'],
  );
});

t.test('a process prints what the command prints, and ends with its exit code', async (t) => {
  const broken = { 'a.yaml': SIDECAR.replace('project:', 'projct:') };
  const calls = [
    [['--version'], {}, 0],
    [['validat'], {}, 2],
    [['validate', '-c', 'a.yaml'], broken, 1],
    [['print-config', '-c', 'a.yaml', '--json'], { 'a.yaml': SIDECAR }, 0],
  ] as const;
  // An ordinary test has one that succeeds, and one that fails.
  for (const [args, files, code] of calls.filter((_, at) => isLong || at % 2 === 0)) {
    const outcome = await execute(args, files);
    t.equal(outcome.code, code, args.join(' '));
    t.strictSame(outcome, await sluice(args, files));
  }
});

t.test('help lists the commands, and each command has its own', async (t) => {
  const { code, out, err } = await sluice(['--help']);
  t.equal(code, 0);
  t.equal(err, '');
  t.match(out, /Commands\n {2}run .*\n {2}validate /u);
  const own = await sluice(['help', 'print-config']);
  t.match(own.out, /Usage\n {2}sluice print-config \[options\]/u);
  t.equal((await sluice(['print-config', '-h'])).out, own.out);
});

t.test('help on a group lists its commands', async (t) => {
  const group = await sluice(['help', 'key']);
  t.match(group, { code: 0, err: '', out: /sluice key <command>.*\n {2}key create .*\n {2}key revoke <ID> /su });
  t.strictSame(await sluice(['key', '--help']), group);
  t.match(await sluice(['key']), { code: 2, err: /one of key create, key list, key revoke/u });
});

t.test('the version is printed', async (t) => {
  t.match(await sluice(['--version']), { code: 0, out: /^sluice \d+\.\d+\.\d+\n$/u });
});

t.test('wrong usage exits with 2, with a hint and without a stack trace', async (t) => {
  t.match(await sluice(['validat']), {
    code: 2,
    out: '',
    err: 'error: unknown command "validat"\n  hint: did you mean "validate"?\n',
  });
  t.match(await sluice(['start']), { code: 2, err: /did you mean "run"/u });
  t.match(await sluice(['poject', 'create', 'shop']), { code: 2, err: /did you mean "project create"/u });
  t.match(await sluice(['enviroment']), { code: 2, err: /did you mean "environment"/u });
  t.match(await sluice(['login']), { code: 2, err: /did you mean "console"/u });
  t.match(await sluice(['validate', '--cnfig', 'x']), { code: 2, err: /did you mean "--config"/u });
  t.match(await sluice(['validate', 'extra']), { code: 2, err: /does not take "extra"/u });
  t.match(await sluice(['validate', 'a.yaml']), { code: 2, err: /hint: .* sluice validate --config a\.yaml\n/u });
  t.match(await sluice(['a.yaml']), { code: 2, err: /hint: .* sluice run --config a\.yaml\n/u });
  t.match(await sluice(['--cnfig', 'x']), {
    code: 2,
    err: /unknown option --cnfig\n {2}hint: did you mean "--config"/u,
  });
  t.match(await sluice(['trace']), { code: 2, err: 'error: ID is missing\n  hint: see sluice trace --help\n' });
  t.match(await sluice(['print-config', '--format', 'xml']), { code: 2, err: /must be yaml or json/u });
});

t.test('validate names the file of a valid configuration', async (t) => {
  const valid = { code: 0, out: 'a.yaml: the configuration is valid.\n', err: '' };
  t.strictSame(await sluice(['validate', '--config', 'a.yaml'], { 'a.yaml': SIDECAR }), valid);
  t.strictSame(await sluice(['-c', 'a.yaml', 'validate'], { 'a.yaml': SIDECAR }), valid);
});

t.test('a wrong URL of a variable names the variable', async (t) => {
  const text = `extensions:\n  postgres: { url: "\${env:DATABASE_URL:-}" }\n`;
  const folder = folderOf({ 'a.yaml': text });
  const { code, err } = await call(['validate', '-c', 'a.yaml'], { folder, env: { DATABASE_URL: 'sqlite:///x.db' } });
  t.equal(code, 1);
  t.match(err, /does not begin with postgres.*hint: .*The value comes from \$\{DATABASE_URL\}\./su);
  t.notMatch(err, 'x.db');
});

t.test('an invalid configuration exits with 1 and shows the place', async (t) => {
  const { code, out, err } = await sluice(['validate', '-c', 'a.yaml'], {
    'a.yaml': SIDECAR.replace('project:', 'projct:'),
  });
  t.equal(code, 1);
  t.equal(out, '');
  t.match(err, /^a\.yaml:4:58: error: unknown option "projct" .*\n.*\n.*\n +hint: did you mean "project"/mu);
  t.notMatch(err, /\n\s+at /u);
});

t.test('print-config shows defaults and hides secrets, in both forms', async (t) => {
  const yaml = await sluice(['print-config', '-c', 'a.yaml', '--set', 'service.shutdown_timeout=3s'], {
    'a.yaml': SIDECAR,
  });
  t.match(yaml.out, /shutdown_timeout: 3s/u);
  t.match(yaml.out, /max_nesting_depth: 32/u);
  t.match(yaml.out, '[REDACTED]');
  t.notMatch(yaml.out, KEY);
  const json = await sluice(['print-config', '-c', 'a.yaml', '--json'], { 'a.yaml': SIDECAR });
  t.match(JSON.parse(json.out), { service: { ledger: 'memory', shutdown_timeout: '15s' } });
});

t.test('components are listed as text and as JSON', async (t) => {
  t.match((await sluice(['components'])).out, /receivers\n {2}otlp /u);
  const listed: unknown = JSON.parse((await sluice(['components', '--json'])).out);
  t.match(listed, {
    receivers: [{ type: 'otlp', signals: ['traces', 'logs', 'metrics'], schema: { type: 'object' } }],
  });
});

t.test('run starts, loads its configuration again on SIGHUP, and stops on SIGTERM', async (t) => {
  const folder = folderOf({ 'a.yaml': SIDECAR });
  const { child, output, ended, until } = startExecutable(['--config', 'a.yaml'], folder, { SLUICE_KEY: KEY });
  await until('everything is ready');
  child.kill('SIGHUP');
  await until('the configuration was loaded again');
  writeFileSync(join(folder, 'a.yaml'), 'nonsense');
  child.kill('SIGHUP');
  await until('the configuration was not loaded; the running one stays in use');
  child.kill('SIGTERM');
  t.equal(await ended, 0);
  t.match(output.err, /"answered":0,"refused":0,"left":0,"seconds":[\d.]+,"msg":"stopped"/u);
  t.notMatch(output.err, KEY);
});

t.test(
  'status asks the running daemon, and says so when there is none',
  { skip: process.platform === 'win32' },
  async (t) => {
    const folder = folderOf({ 'a.yaml': SIDECAR.replace('telemetry: {', 'telemetry: { status: { socket: s.sock },') });
    const env = { SLUICE_KEY: KEY };
    const status = (...args: readonly string[]) => call(['status', '-c', 'a.yaml', ...args], { folder, env });
    t.match(await status(), { code: 1, err: /no daemon answers at/u });
    const daemon = startExecutable(['--config', 'a.yaml'], folder, env);
    await daemon.until('everything is ready');
    t.equal(statSync(join(folder, 's.sock')).mode & 0o777, 0o600);
    const asked = await status('--json');
    t.equal(asked.code, 0);
    t.match(JSON.parse(asked.out), {
      state: 'running',
      problems: [],
      pipelines: [{ id: 'traces' }],
      commits: 0,
    });
    t.match((await status()).out, /^running, ready, up \d+ s\n\ntraces +otlp → auth → environment → file\n/u);
    daemon.child.kill('SIGTERM');
    t.equal(await daemon.ended, 0);
  },
);

t.test('a failed start prints its reason in one line and exits with 1', async (t) => {
  const { code, err } = await execute(['--config', 'a.yaml', '--set', 'exporters.file.path=a.yaml/x'], {
    'a.yaml': SIDECAR,
  });
  t.equal(code, 1);
  t.match(err, /error: /u);
  t.notMatch(err, /\n\s+at /u);
});
