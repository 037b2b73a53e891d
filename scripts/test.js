// Runs the compiled tests, some files at a time: all of them, or the named ones, as in
// `npm test -- test/config/load.test.ts`, or a folder. `--jobs=2` runs two at a time, `--timeout=900` gives each file
// more seconds. `--long` runs the files that have long tests (test/support/long.ts), with these tests. Test files that
// need a database share one server. The first of them starts it, and this script stops it. The last line is for
// scripts: `tests: N passed, N failed`, counting assertions.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTestFile } from './test-file.js';
import { TestReport } from './test-report.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/**
 * The files that take longest begin first: one that began late would run alone at the end. The first of them starts
 * processes of a low priority, which need processors that are not busy, so those after it mostly wait for servers and
 * timers.
 */
const LONGEST = [
  'end-to-end/archived-console.test.js',
  'end-to-end/first-start.test.js',
  'extensions/postgres/embedded/server-folder.test.js',
  'extensions/postgres/ledger.test.js',
  'extensions/postgres/embedded/server.test.js',
  'cli/stored.test.js',
  'client/process-end.test.js',
  'end-to-end/database-unavailable.test.js',
  'extensions/console/web/layout.test.js',
  'extensions/console/web/page.test.js',
  'extensions/console/web/tabs.test.js',
  'extensions/console/web/unavailable.test.js',
  'cli/objects-reading.test.js',
  'extensions/console/web/live.test.js',
  'extensions/postgres/commit.test.js',
  'end-to-end/objects-console.test.js',
  'archive/compaction/compact.test.js',
  'exporters/objects/objects.test.js',
  'receivers/otlp/hardening.test.js',
  'cli/main.test.js',
  'cli/lost-files.test.js',
  'extensions/postgres/reader.test.js',
  'end-to-end/database-troubles.test.js',
  'archive/unknown-files.test.js',
  'extensions/postgres/contents.test.js',
  'extensions/postgres/duplicates.test.js',
  'exporters/postgres/rewrite.test.js',
  'exporters/postgres/retention.test.js',
  'cli/archived.test.js',
  'cli/move.test.js',
];

/** Two files more than there are processors, because many files wait for a server or a timer. */
const JOBS = String(Math.min(availableParallelism() + 2, 8));

/** What the compiled files with long tests import, and the variable that adds these tests. */
const LONG_IMPORT = '/support/long.js';
const LONG_TESTS = { SLUICE_LONG_TESTS: 'yes' };

/** So many files take minutes. */
const MANY_FILES = 100;

function fail(message) {
  process.stderr.write(`test: ${message}\n`);
  process.exit(1);
}

function readArguments() {
  const options = {
    jobs: { type: 'string', default: JOBS },
    timeout: { type: 'string', default: '600' },
    long: { type: 'boolean', default: false },
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [jobs, timeout] = [Number(values.jobs), Number(values.timeout)];
    if (!(jobs >= 1) || !(timeout > 0)) fail('--jobs and --timeout are numbers');
    const files = filesOf(positionals).filter((path) => !values.long || hasLongTests(path));
    return { jobs, timeoutMs: timeout * 1000, files, additions: values.long ? LONG_TESTS : {} };
  } catch (error) {
    return fail(error.message);
  }
}

/** Test files, relative to the root. A source file means its compiled file, a folder all tests below it. */
function filesOf(names) {
  if (names.length > 0) return [...new Set(names.flatMap(named))];
  const all = named('dist/test');
  const longest = LONGEST.map((path) => join('dist/test', path));
  for (const path of longest) if (!all.includes(path)) fail(`${path} is named in scripts/test.js and does not exist`);
  return [...longest, ...all.filter((path) => !longest.includes(path))];
}

function hasLongTests(path) {
  return readFileSync(resolve(root, path), 'utf8').includes(LONG_IMPORT);
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

const { jobs, timeoutMs, files, additions } = readArguments();
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
    const file = runTestFile(path, { root, env: { ...process.env, ...run.variables, ...additions }, timeoutMs });
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
