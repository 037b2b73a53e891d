// Runs the compiled tests under tap. Arguments are passed on: `npm test -- dist/test/config/load.test.js`.
import { spawnSync } from 'node:child_process';
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
const result = spawnSync(process.execPath, [join(root, 'node_modules/tap/dist/esm/run.mjs'), ...tap], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(result.status ?? 1);
