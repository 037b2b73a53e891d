// The output of a test run: the progress, each failure at once, and at the end the skipped tests and the slowest files.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { withSourcePlaces } from './source-places.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Without a terminal, the number of progress lines of a run. */
const REPORTS = 10;
const SLOWEST = 8;
/** Failures shown per file; later ones mostly follow from the first ones. */
const MOST_FAILURES = 10;
const MOST_LINES = 40;
/** The fields of tap's diagnostics that are shown. */
const SHOWN = ['expected', 'actual', 'diff', 'compare', 'found', 'wanted', 'pattern', 'doNotWant', 'error', 'code'];

export class TestReport {
  #out;
  #total;
  #outcomes = [];
  #running = new Set();

  constructor(out, total) {
    this.#out = out;
    this.#total = total;
  }

  get passed() {
    return sum(this.#outcomes, ({ passed }) => passed);
  }

  get failed() {
    return sum(this.#outcomes, ({ failed }) => failed);
  }

  started(path) {
    this.#running.add(path);
    this.#status();
  }

  ended(outcome) {
    this.#running.delete(outcome.path);
    this.#outcomes.push(outcome);
    if (outcome.failed > 0) this.#print(`${withSourcePlaces(describe(outcome), ROOT)}\n`);
    this.#status();
    const count = this.#outcomes.length;
    const tenth = Math.ceil(this.#total / REPORTS);
    if (!this.#out.isTTY && count % tenth === 0 && count < this.#total) this.#print(this.#progress());
  }

  interrupted() {
    this.#print(`\ninterrupted; still running: ${[...this.#running].join(', ') || 'nothing'}\n`);
  }

  summary() {
    const left = this.#outcomes.flatMap(({ path, left }) => left.map((result) => ({ path, result })));
    for (const { path, result } of left) {
      const [kind, why] = result.todo ? ['to do', result.todo] : ['skipped', result.skip];
      const reason = why === true ? '' : ` (${why})`;
      this.#print(`${kind}, neither passed nor failed: ${path}: ${result.fullname || result.name}${reason}\n`);
    }
    const slowest = [...this.#outcomes].sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    if (slowest.length > 1) {
      const list = slowest.map(({ path, seconds }) => `  ${seconds.toFixed(1).padStart(5)} s  ${path}\n`);
      this.#print(`\nlongest:\n${list.join('')}`);
    }
    const failing = this.#outcomes.filter(({ failed }) => failed > 0);
    if (failing.length > 0) this.#print(`\nfailing:\n${failing.map(({ path }) => `  ${path}\n`).join('')}`);
  }

  #progress() {
    return `${this.#outcomes.length} of ${this.#total} files, ${this.passed} passed, ${this.failed} failed\n`;
  }

  #status() {
    if (!this.#out.isTTY) return;
    const line = `${this.#progress().trimEnd()}  ${[...this.#running].join(' ')}`;
    this.#out.write(`\r\x1b[K${line.slice(0, this.#out.columns - 1)}`);
  }

  /** Printed above the status line, which is then printed again. */
  #print(text) {
    this.#out.write(this.#out.isTTY ? `\r\x1b[K${text}` : text);
  }
}

function describe({ path, failed, failures, reason, output, seconds }) {
  const lines = [`\nFAILED: ${path} (${failed} failed, ${seconds.toFixed(1)} s)`];
  if (reason !== undefined) lines.push(`  the file ${reason}`);
  for (const result of failures.slice(0, MOST_FAILURES)) lines.push(...explain(result));
  if (failures.length > MOST_FAILURES) lines.push(`  and ${failures.length - MOST_FAILURES} more`);
  const rest = output.trimEnd();
  if (rest !== '') lines.push('  it also said:', ...tail(rest.split('\n')).map((line) => `    ${line}`));
  return lines.join('\n');
}

function explain({ fullname, name, tapError, diag }) {
  const lines = [`  ✗ ${fullname || name || tapError || '(without a name)'}`];
  if (diag === null || diag === undefined) return lines;
  const { at, source, stack, handles, requests } = diag;
  if (at?.fileName !== undefined) lines.push(`      at ${at.fileName}:${at.lineNumber}:${at.columnNumber}`);
  const shown = Object.fromEntries(SHOWN.filter((key) => diag[key] !== undefined).map((key) => [key, diag[key]]));
  // Only a test that timed out has this field.
  if (handles !== undefined || requests !== undefined) Object.assign(shown, { handles, requests });
  const text = [source, Object.keys(shown).length > 0 ? stringify(shown) : undefined, stack].filter(
    (part) => typeof part === 'string' && part.trim() !== '',
  );
  for (const part of text) lines.push(...tail(part.trimEnd().split('\n')).map((line) => `      ${line}`));
  return lines;
}

function tail(lines) {
  return lines.length <= MOST_LINES ? lines : [`… ${lines.length - MOST_LINES} lines`, ...lines.slice(-MOST_LINES)];
}

function sum(items, value) {
  return items.reduce((total, item) => total + value(item), 0);
}
