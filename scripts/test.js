// Runs the compiled tests under tap. Arguments are passed on: `npm test -- dist/test/config/load.test.js`.
// Test files that need a database share one server, which is started by the first of them and ended here.
// The last line is for scripts: `tests: N passed, N failed`, counting assertions.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const given = process.argv.slice(2).filter((argument) => !argument.startsWith('-'));
const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
const files =
  given.length > 0
    ? given
    : readdirSync(join(root, 'dist/test'), { recursive: true })
        .filter((path) => path.endsWith('.test.js'))
        .map((path) => join('dist/test', path))
        .sort();
const reports = mkdtempSync(join(tmpdir(), 'sluice-tests-'));
const report = join(reports, 'report.tap');
const tap = [
  'run',
  '--disable-coverage',
  '--allow-incomplete-coverage',
  '--jobs=2',
  '--timeout=120',
  // Away from a terminal the live counts of the terse reporter would fill pages.
  `--reporter=${process.stdout.isTTY ? 'terse' : 'min'}`,
  `--output-file=${report}`,
  ...flags,
  ...files,
];
process.stdout.write(`running ${files.length} test files, this takes a few minutes\n`);
const { openRun } = await import('../dist/test/support/postgres.js');
const run = await openRun();
const child = spawn(process.execPath, [join(root, 'node_modules/tap/dist/esm/run.mjs'), ...tap], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, ...run.variables },
});
// Ctrl-C reaches tap as well; this process stays until tap is done, to end the server.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
const status = await new Promise((resolve) => child.once('close', resolve));
await run.close();
const { passed, failed } = totals();
rmSync(reports, { recursive: true, force: true });
process.stdout.write(`\ntests: ${passed} passed, ${failed} failed\n`);
process.exit(status ?? 1);

/** From the summary at the end of tap's own report. A run that failed without one, or beside it, counts as one failure. */
function totals() {
  let text = '';
  try {
    text = readFileSync(report, 'utf8');
  } catch {
    // tap did not get as far as a report.
  }
  const summary = [...text.matchAll(/^# \{ total: .*\}$/gm)].at(-1)?.[0] ?? '';
  const count = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(summary)?.[1] ?? 0);
  return { passed: count('pass'), failed: Math.max(count('fail'), status === 0 ? 0 : 1) };
}
