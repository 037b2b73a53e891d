// Packs the package as for publishing, installs it into an empty folder, and uses it there: version, validate, a
// daemon with the sidecar configuration, one request stored in its file; `sluice/client` without and with its peers.
// Also checks that the Dockerfile copies existing files. The packages come from npm's cache or the registry, with the
// versions of the lock file.
import { execFileSync, spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const folder = mkdtempSync(join(tmpdir(), 'sluice-package-'));
const KEY = 'a-key-of-the-package-check';
const PATIENCE_MS = 180_000;

function run(command, args, cwd = folder) {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
  process.stdout.write(`ok: ${what}\n`);
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

async function until(check, what) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (await check()) return expect(true, what);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`not within ${PATIENCE_MS / 1000} s: ${what}`);
}

/** The files of each COPY exist in the build context, and the second stage has all files that it runs. */
function checkDockerfile() {
  const text = readFileSync(join(root, 'Dockerfile'), 'utf8');
  const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) => paths.split(' '));
  const absent = copied.filter((path) => !existsSync(join(root, path)));
  expect(absent.length === 0 && copied.length > 5, `the Dockerfile copies what exists ${absent.join(' ')}`);
  const ignored = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n');
  expect(!copied.some((path) => ignored.includes(path)), 'and nothing that is left out of the build context');
  expect(/^USER \d+$/m.test(text), 'and its user is a number, as runAsNonRoot of Kubernetes needs');
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const needed = files.filter((path) => !/^(?:dist\/(?:src|web)|docs)$|\.md$/.test(path));
  expect(
    needed.every((path) => copied.includes(path)),
    'and all that the package runs',
  );
  expect(/^USER (?!root)\S+$/m.test(text), 'and does not run as root');
}

/** The links of the README lead to files or folders of the package. */
function checkLinks(names) {
  const targets = [...readFileSync(join(root, 'README.md'), 'utf8').matchAll(/\]\(([^)#\s]+)/g)].map(
    ([, path]) => path,
  );
  const broken = targets
    .filter((path) => !/^[a-z]+:/.test(path))
    .filter((path) => !names.some((name) => name === path || name.startsWith(`${path}/`)));
  expect(targets.length > 20 && broken.length === 0, `every link of the README is in the package ${broken.join(' ')}`);
}

/** Sends a span with the installed client to a server of its own, and prints what arrived. */
const CLIENT_PROGRAM = `
import { createServer } from 'node:http';
import { trace } from '@opentelemetry/api';
import { setup, SluiceLogExporter, SluiceMetricExporter, SluiceSpanProcessor, SluiceTraceExporter } from 'sluice/client';

const paths = [];
const server = createServer((incoming, response) => {
  paths.push(incoming.url);
  incoming.resume().on('end', () => response.end());
});
server.listen(0, '127.0.0.1', async () => {
  const client = setup({ key: 'a-key-of-the-package-check', endpoint: 'http://127.0.0.1:' + server.address().port });
  trace.getTracer('check').startSpan('packed', { attributes: { 'gen_ai.operation.name': 'chat' } }).end();
  await client.shutdown();
  server.close();
  const classes = [SluiceLogExporter, SluiceMetricExporter, SluiceSpanProcessor, SluiceTraceExporter];
  console.log(paths.sort().join(' '), classes.every((each) => typeof each === 'function'));
});
`;

function checkClient(names) {
  expect(names.includes('dist/src/client/client.d.ts'), 'the package holds the types of sluice/client');
  const load = ['--input-type=module', '-e', "import('sluice/client').catch(({ message }) => console.log(message))"];
  const { peerDependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const peers = Object.keys(peerDependencies).filter((name) => name.startsWith('@opentelemetry/'));
  const message = run(process.execPath, load);
  expect(message.includes(`npm install ${peers.join(' ')}\n`), 'sluice/client without its peers says what to install');
  const versions = peers.map((name) => `${name}@${devDependencies[name]}`);
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', ...versions]);
  expect(run(process.execPath, load) === '', 'sluice/client with its peers is imported');
  writeFileSync(join(folder, 'client.mjs'), CLIENT_PROGRAM);
  const sent = run(process.execPath, ['client.mjs']);
  expect(sent === '/v1/metrics /v1/traces true\n', 'and sends a span and its metrics');
}

/** Loads the SDK of the Model Context Protocol. The input is at its end, so that the command ends. */
function checkTools(bin) {
  const env = { ...process.env, SLUICE_READ_TOKEN: 'slr_of-the-package-check' };
  const options = { cwd: folder, encoding: 'utf8', input: '', env };
  expect(
    execFileSync(process.execPath, [bin, 'mcp', '--url', 'http://127.0.0.1:9'], options) === '',
    'sluice mcp starts, and ends with its input',
  );
}

async function checkDaemon(bin) {
  const port = await freePort();
  const sets = [`receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`, 'service.telemetry.metrics.enabled=false'];
  const options = [
    '--config',
    'sidecar.yaml',
    ...sets.flatMap((set) => ['--set', set]),
    '--set',
    'service.extensions=[]',
  ];
  run(process.execPath, [bin, 'validate', ...options]);
  expect(true, 'sluice validate');
  const daemon = spawn(process.execPath, [bin, ...options], { cwd: folder, env: { ...process.env, SLUICE_KEY: KEY } });
  let said = '';
  daemon.stderr.on('data', (text) => (said += text));
  const ended = new Promise((resolve) => daemon.once('close', resolve));
  try {
    await until(() => said.includes('everything is ready'), 'the daemon starts');
    const span = {
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      name: 'packed',
      startTimeUnixNano: '1700000000000000000',
    };
    const answer = await fetch(`http://127.0.0.1:${port}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
    });
    expect(answer.status === 200, 'a request is answered 200');
    const written = readFileSync(join(folder, 'data/telemetry.ndjson'), 'utf8');
    expect(JSON.parse(written).name === 'packed', 'and is in the file');
    daemon.kill('SIGTERM');
    expect((await ended) === 0, 'SIGTERM ends it with 0');
  } catch (error) {
    process.stderr.write(said);
    throw error;
  } finally {
    daemon.kill('SIGKILL');
  }
}

try {
  checkDockerfile();
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root));
  const names = packed.files.map(({ path }) => path);
  expect(names.includes('dist/src/pdata/wasm/wire.wasm'), 'the package holds the wire module');
  expect(!names.some((name) => /^(?:test|bench|data)\/|dist\/test/.test(name)), 'and no tests');
  checkLinks(names);
  writeFileSync(join(folder, 'package.json'), '{ "name": "package-user", "private": true }');
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=optional', `./${packed.filename}`]);
  const bin = join(folder, 'node_modules/sluice/bin/sluice.js');
  expect(/^sluice \d+\.\d+\.\d+\n$/.test(run(process.execPath, [bin, '--version'])), 'sluice --version');
  copyFileSync(join(folder, 'node_modules/sluice/config/sidecar.yaml'), join(folder, 'sidecar.yaml'));
  process.env.SLUICE_KEY = KEY;
  await checkDaemon(bin);
  checkTools(bin);
  checkClient(names);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
