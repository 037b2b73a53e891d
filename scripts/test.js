// Runs the compiled tests under tap. Arguments are passed on: `npm test -- dist/test/config/load.test.js`.
// Test files that need a database share one server, which is started by the first of them and ended here.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
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
const tap = [
  'run',
  '--disable-coverage',
  '--allow-incomplete-coverage',
  '--jobs=2',
  '--timeout=120',
  '--reporter=terse',
  ...flags,
  ...files,
];
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
process.exit(status ?? 1);
