// Runs the compiled tests, some files at a time: all of them, or the named ones, as in `npm test --
// test/config/load.test.ts`, or a folder. Named files have a process each, in a whole run most share one. `--jobs=2`
// runs two at a time, `--timeout=900` gives each file more seconds. `--long` runs the files that have long tests
// (test/support/long.ts and long-file.ts), with these tests. Test files that need a database share one server. The
// first of them starts it, and this script stops it. The last line is for scripts: `tests: N passed, N failed`,
// counting assertions.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runTestProcess } from './test-process.js';
import { TestReport } from './test-report.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
/**
 * The files that take longest begin first: one that began late would run alone at the end. The first of them starts
 * processes of a low priority, which need processors that are not busy, so those after it mostly wait for servers and
 * timers.
 */
const LONGEST = [
  'end-to-end/first-start.test.js',
  'extensions/postgres/embedded/server-folder.test.js',
  'extensions/postgres/ledger.test.js',
  'extensions/postgres/embedded/server.test.js',
  'cli/stored.test.js',
  'client/process-end.test.js',
  'end-to-end/database-unavailable.test.js',
  'extensions/console/web/page.test.js',
  'extensions/postgres/commit.test.js',
  'archive/compaction/compact.test.js',
  'exporters/objects/objects.test.js',
  'receivers/otlp/hardening.test.js',
  'cli/main.test.js',
  'extensions/postgres/reader.test.js',
  'end-to-end/database-troubles.test.js',
  'extensions/postgres/contents.test.js',
  'extensions/postgres/duplicates.test.js',
  'exporters/postgres/rewrite.test.js',
  'exporters/postgres/retention.test.js',
  'cli/archived.test.js',
  'cli/move.test.js',
];

/** These set flags or globals of their process, or measure its memory. In a whole run the others share processes. */
const OWN_PROCESS = [
  'client/span-processor.test.js',
  'daemon/heap.test.js',
  'docs/own-traces.test.js',
  'pdata/buffer-view.test.js',
  'pdata/chunk-pool.test.js',
  'pdata/page-memory.test.js',
  'service/admission.test.js',
  'service/arena.test.js',
  'service/telemetry/own-traces.test.js',
];

/** The fewest neighbouring files that share a process. */
const FEWEST_TOGETHER = 4;

/** Two processes more than there are processors, because many tests wait for a server or a timer. */
const JOBS = String(Math.min(availableParallelism() + 2, 8));

/** What compiled files with long tests import, and those with no others, and the variable that adds the tests. */
const LONG_IMPORT = '/support/long.js';
const LONG_FILE_IMPORT = '/support/long-file.js';
const LONG_TESTS = { SLUICE_LONG_TESTS: 'yes' };

/** PostgreSQL and Chromium put sockets into the folder of temporary files. Their paths have at most 107 bytes. */
const LONGEST_TMPDIR = 50;

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
    const chosen = values.long
      ? { groups: longOf(positionals).map((path) => [path]), additions: LONG_TESTS }
      : { groups: groupsOf(positionals, jobs), additions: {} };
    return { jobs, timeoutMs: timeout * 1000, ...chosen };
  } catch (error) {
    return fail(error.message);
  }
}

/**
 * Test files, relative to the root. A source file means its compiled file, a folder all tests below it. The files of a
 * group share a process, which loads the modules of the product once. Groups become smaller, so that all jobs end at
 * about the same time.
 */
function groupsOf(names, jobs) {
  if (names.length > 0) return filesOf(names).map((path) => [path]);
  const all = named('dist/test').filter((path) => !imports(path, LONG_FILE_IMPORT));
  const alone = [...LONGEST, ...OWN_PROCESS].map((path) => join('dist/test', path));
  for (const path of alone) if (!all.includes(path)) fail(`${path} is named in scripts/test.js and does not exist`);
  const others = all.filter((path) => !alone.includes(path));
  const groups = alone.map((path) => [path]);
  while (others.length > 0) groups.push(others.splice(0, Math.max(FEWEST_TOGETHER, others.length / (2 * jobs))));
  return groups;
}

function longOf(names) {
  const files = names.length > 0 ? filesOf(names) : named('dist/test');
  return files.filter((path) => imports(path, LONG_IMPORT) || imports(path, LONG_FILE_IMPORT));
}

function filesOf(names) {
  return [...new Set(names.flatMap(named))];
}

function imports(path, place) {
  return readFileSync(resolve(root, path), 'utf8').includes(place);
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

if (tmpdir().length > LONGEST_TMPDIR) process.env.TMPDIR = '/tmp';
const { jobs, timeoutMs, groups, additions } = readArguments();
const count = groups.flat().length;
const isLong = count >= MANY_FILES;
const counted = count === 1 ? '1 test file' : `${count} test files`;
process.stdout.write(`running ${counted}${isLong ? ', this takes a few minutes' : ''}\n`);
const { openRun } = await import('../dist/test/support/postgres.js');
const run = await openRun();
const report = new TestReport(process.stdout, count);
const running = new Set();
let interrupted = false;

// Ctrl-C reaches the test files as well. This process waits for them, to stop the server.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (!interrupted) report.interrupted();
    interrupted = true;
    for (const tests of running) tests.stop(signal);
  });
}

async function work() {
  for (let paths = groups.shift(); paths !== undefined && !interrupted; paths = groups.shift()) {
    const tests = runTestProcess(paths, {
      root,
      env: { ...process.env, ...run.variables, ...additions },
      timeoutMs,
      onStart: (path) => report.started(path),
      onEnd: (outcome) => report.ended(outcome),
    });
    running.add(tests);
    const rest = await tests.done;
    running.delete(tests);
    if (rest.length > 0) groups.unshift(rest);
  }
}

await Promise.all(Array.from({ length: jobs }, work));
await run.close();
report.summary();
process.stdout.write(`\ntests: ${report.passed} passed, ${report.failed} failed\n`);
process.exit(interrupted || report.failed > 0 || report.passed === 0 ? 1 : 0);
