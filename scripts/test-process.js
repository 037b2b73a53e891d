// Runs test files in a process and reads its report: one file by itself, or several one after the other. Nothing but
// Node.js is loaded before a file: tap's own runner puts its loaders into every process, and into every daemon that a
// test starts, which took a third of the total time.
import { spawn } from 'node:child_process';
import { Parser } from 'tap-parser';

/** After its time is over, a process has this long to report its unfinished test before it is killed. */
const LAST_WORDS_MS = 3_000;
/** After the process has exited, its child processes may hold its output open for this long. */
const LEFTOVER_MS = 2_000;
/** The amount of output that is stored beside the report. */
const MOST_OUTPUT = 20_000;

/**
 * Starts the process. `onStart(path)` and `onEnd(outcome)` are called for each file. An outcome counts assertions in
 * `passed` and `failed`; `failures` and `left` (the skipped ones) are tap's results, `reason` is a fault of the process
 * as a whole. `done` always resolves, with the files that did not begin because the process ended before.
 */
export function runTestProcess(paths, { root, env, timeoutMs, onStart, onEnd }) {
  const together = paths.length > 1;
  const child = spawn(process.execPath, together ? ['scripts/test-files.js', ...paths] : paths, {
    cwd: root,
    // The time limit is kept here, outside of the process, so that it can still report its unfinished test.
    env: { ...env, TAP: '1', TAP_TIMEOUT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const rest = [...paths];
  let outcome;
  let failed = 0;
  let started = 0;
  let late = false;
  let timer;
  const begin = () => {
    outcome = newOutcome(rest.shift());
    started = performance.now();
    timer = setTimeout(() => {
      late = true;
      // On this signal tap reports the running test and the condition that it waits for.
      child.kill('SIGALRM');
      setTimeout(() => child.kill('SIGKILL'), LAST_WORDS_MS).unref();
    }, timeoutMs);
    onStart(outcome.path);
  };
  const end = (reason) => {
    clearTimeout(timer);
    outcome.seconds = (performance.now() - started) / 1000;
    outcome.reason = reason;
    if (outcome.reason !== undefined) outcome.failed++;
    failed += outcome.failed;
    onEnd(outcome);
  };
  const parser = new Parser({ name: '' });
  parser.on('pass', () => outcome.passed++);
  parser.on('fail', (result) => {
    outcome.failed++;
    outcome.failures.push(result);
  });
  // Neither passed nor failed: both are listed in the report.
  parser.on('skip', (result) => outcome.left.push(result));
  parser.on('todo', (result) => outcome.left.push(result));
  const other = (text) => (outcome.output = (outcome.output + text).slice(-MOST_OUTPUT));
  parser.on('extra', other);
  if (together) {
    parser.on('child', ({ name }) => {
      if (name !== rest[0]) return;
      end();
      begin();
    });
  }
  child.stdout.on('data', (bytes) => parser.write(bytes));
  child.stderr.on('data', other);
  begin();
  const done = ended(child).then(async (exit) => {
    clearTimeout(timer);
    const complete = new Promise((resolve) => parser.once('complete', resolve));
    parser.end();
    const { ok, bailout } = await complete;
    const isExplained = failed + outcome.failed > 0 && rest.length === 0;
    end(faultOf({ ...exit, isSilent: isSilent(outcome), isExplained, ok, bailout, late, timeoutMs }));
    return rest;
  });
  return { done, stop: (signal) => child.kill(signal) };
}

function newOutcome(path) {
  return { path, passed: 0, failed: 0, failures: [], left: [], reason: undefined, output: '', seconds: 0 };
}

function isSilent({ passed, failed, left }) {
  return passed + failed + left.length === 0;
}

/** An abnormal exit of the process is a further failure of its last file, and so is a report that breaks off. */
function faultOf({ code, signal, error, isSilent, isExplained, ok, bailout, late, timeoutMs }) {
  if (error !== undefined) return `could not be started: ${error.message}`;
  if (late) return `was stopped after ${timeoutMs / 1000} s`;
  if (signal !== null) return `was ended by ${signal}`;
  if (bailout) return `bailed out: ${bailout}`;
  if (code !== 0 && !isExplained) return `ended with ${code}`;
  if (isSilent) return 'holds no test';
  if (!ok && !isExplained) return 'broke off its report';
  return undefined;
}

/** The end of the process and of its output, whichever is later. Its child processes are not waited for. */
function ended(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ error }));
    child.once('close', (code, signal) => resolve({ code, signal }));
    child.once('exit', (code, signal) => setTimeout(() => resolve({ code, signal }), LEFTOVER_MS).unref());
  });
}
