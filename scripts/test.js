// Runs the compiled tests, two files at a time: all of them, or the named ones: `npm test -- test/config/load.test.ts`,
// or a folder. `--jobs=4` runs more at a time, `--timeout=300` gives each file more seconds. Test files that need a
// database share one server. The first of them starts it, and this script stops it. The last line is for scripts:
// `tests: N passed, N failed`, counting assertions.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTestFile } from './test-file.js';
import { TestReport } from './test-report.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/** These files run first, the slowest at the front, so that no processor waits for one of them at the end. */
const LONG = [
  'end-to-end/first-start.test.js',
  'extensions/postgres/embedded/server.test.js',
  'end-to-end/database-away.test.js',
  'cli/main.test.js',
  'cli/stored.test.js',
  'pdata/wasm/oracle.test.js',
  'pdata/wasm/mutation.test.js',
  'processors/privacy/redaction-corpus.test.js',
];

/** So many files take minutes. */
const MANY_FILES = 100;

function fail(message) {
  process.stderr.write(`test: ${message}\n`);
  process.exit(1);
}

function readArguments() {
  const options = { jobs: { type: 'string', default: '2' }, timeout: { type: 'string', default: '300' } };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [jobs, timeout] = [Number(values.jobs), Number(values.timeout)];
    if (!(jobs >= 1) || !(timeout > 0)) fail('--jobs and --timeout are numbers');
    return { jobs, timeoutMs: timeout * 1000, files: filesOf(positionals) };
  } catch (error) {
    return fail(error.message);
  }
}

/** Test files, relative to the root. A source file means its compiled file, a folder all tests below it. */
function filesOf(names) {
  if (names.length > 0) return [...new Set(names.flatMap(named))];
  const all = named('dist/test');
  const long = LONG.map((path) => join('dist/test', path));
  for (const path of long) if (!all.includes(path)) fail(`${path} is named in scripts/test.js and does not exist`);
  return [...long, ...all.filter((path) => !long.includes(path))];
}

function named(name) {
  const source = relative(root, resolve(name));
  const path = source.startsWith('test') ? join('dist', source.replace(/\.ts$/, '.js')) : source;
  const place = resolve(root, path);
  if (!existsSync(place)) return fail(`there is no ${existsSync(resolve(root, source)) ? `test in ${name}` : name}`);
  if (!statSync(place).isDirectory()) return [path];
  const found = readdirSync(place, { recursive: true }).filter((file) => file.endsWith('.test.js'));
  if (found.length === 0) return fail(`there is no test in ${name}`);
  return found.sort().map((file) => join(path, file));
}

const { jobs, timeoutMs, files } = readArguments();
const isLong = files.length >= MANY_FILES;
const counted = files.length === 1 ? '1 test file' : `${files.length} test files`;
process.stdout.write(`running ${counted}${isLong ? ', this takes a few minutes' : ''}\n`);
const { openRun } = await import('../dist/test/support/postgres.js');
const run = await openRun();
const report = new TestReport(process.stdout, files.length);
const running = new Set();
let interrupted = false;

// Ctrl-C reaches the test files as well. This process waits for them, to stop the server.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (!interrupted) report.interrupted();
    interrupted = true;
    for (const file of running) file.stop(signal);
  });
}

async function work() {
  for (let path = files.shift(); path !== undefined && !interrupted; path = files.shift()) {
    report.started(path);
    const file = runTestFile(path, { root, env: { ...process.env, ...run.variables }, timeoutMs });
    running.add(file);
    report.ended(await file.done);
    running.delete(file);
  }
}

await Promise.all(Array.from({ length: jobs }, work));
await run.close();
report.summary();
process.stdout.write(`\ntests: ${report.passed} passed, ${report.failed} failed\n`);
process.exit(interrupted || report.failed > 0 || report.passed === 0 ? 1 : 0);
