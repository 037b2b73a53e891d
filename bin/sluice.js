#!/usr/bin/env node
// Older versions of Node must be able to read this file to be refused with a reason: it has no `await` outside
// functions, and loads the program only after the check.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const needed = engines.node.replace('>=', '');
const running = process.versions.node;

if (running.localeCompare(needed, 'en', { numeric: true }) < 0) {
  console.error(`error: Sluice needs Node ${needed} or newer; this is Node ${running}`);
  console.error('  hint: Run it with a newer Node; `node --version` shows which one is first in the PATH.');
  process.exitCode = 1;
} else {
  import('../dist/src/cli/main.js').then(({ main }) => main(process));
}
