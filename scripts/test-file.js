// Runs one test file as a separate process and reads its report. Nothing but Node.js is loaded before the file: tap's
// own runner puts its loaders into every process, and into every daemon that a test starts, which took a third of the
// total time.
import { spawn } from 'node:child_process';
import { Parser } from 'tap-parser';

/** After its time is over, a file has this long to report its unfinished test before it is killed. */
const LAST_WORDS_MS = 3_000;
/** After the process has exited, its child processes may hold its output open for this long. */
const LEFTOVER_MS = 2_000;
/** The amount of output that is stored beside the report. */
const MOST_OUTPUT = 20_000;

/**
 * Starts the file. `done` always resolves with the result: `passed`, `failed` and `skipped` count assertions,
 * `failures` and `left` (the skipped ones) are tap's results, `reason` is a fault of the process as a whole.
 */
export function runTestFile(path, { root, env, timeoutMs }) {
  const started = performance.now();
  const outcome = { path, passed: 0, failed: 0, failures: [], left: [], reason: undefined, output: '', seconds: 0 };
  const child = spawn(process.execPath, [path], {
    cwd: root,
    // The time limit is kept here, outside of the file, so that the file can still report its unfinished test.
    env: { ...env, TAP: '1', TAP_TIMEOUT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const parser = readResults(outcome);
  const other = (text) => (outcome.output = (outcome.output + text).slice(-MOST_OUTPUT));
  child.stdout.on('data', (bytes) => parser.write(bytes));
  child.stderr.on('data', other);
  parser.on('extra', other);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    // On this signal tap reports the running test and the condition that it waits for.
    child.kill('SIGALRM');
    setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS).unref();
  }, timeoutMs);
  const done = ended(child).then(({ code, signal, error }) => {
    clearTimeout(timer);
    outcome.seconds = (performance.now() - started) / 1000;
    const results = new Promise((resolve) => parser.once('complete', resolve));
    parser.end();
    return results.then((report) => judge(outcome, { code, signal, error, late, timeoutMs, report }));
  });
  return { path, done, stop: (signal) => child.kill(signal) };
}

function readResults(outcome) {
  const parser = new Parser({ name: '' });
  parser.on('pass', () => outcome.passed++);
  parser.on('fail', (result) => {
    outcome.failed++;
    outcome.failures.push(result);
  });
  // Neither passed nor failed: both are listed in the report.
  parser.on('skip', (result) => outcome.left.push(result));
  parser.on('todo', (result) => outcome.left.push(result));
  return parser;
}

/** An abnormal exit of the process is a further failure, and so is a report without any result. */
function judge(outcome, { code, signal, error, late, timeoutMs, report }) {
  const silent = outcome.passed + outcome.failed + outcome.left.length === 0;
  if (error !== undefined) outcome.reason = `could not be started: ${error.message}`;
  else if (late) outcome.reason = `was stopped after ${timeoutMs / 1000} s`;
  else if (signal !== null) outcome.reason = `was ended by ${signal}`;
  else if (report.bailout) outcome.reason = `bailed out: ${report.bailout}`;
  else if (code !== 0 && outcome.failed === 0) outcome.reason = `ended with ${code}`;
  else if (silent) outcome.reason = 'holds no test';
  else if (!report.ok && outcome.failed === 0) outcome.reason = 'broke off its report';
  if (outcome.reason !== undefined) outcome.failed++;
  return outcome;
}

/** The end of the process and of its output, whichever is later. Its child processes are not waited for. */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), LEFTOVER_MS).unref());
  });
}
