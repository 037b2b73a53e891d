// Installs a program from the Python package index for a benchmark, and prints the path of its command. It is cached
// below the user's cache folder, by version. Exit code 77, with the reason, if it cannot be installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const SKIPPED = 77;

/** `packages` in pip's form; `command` is the program among those that they install. */
export function printPythonProgram({ name, version, packages, command }) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
  const folder = join(cache, `${name.toLowerCase()}-pg-${version}`);
  const finished = join(folder, 'finished');
  if (!existsSync(finished)) {
    process.stderr.write(`installing ${name} ${version}, once; this takes some minutes\n`);
    mkdirSync(cache, { recursive: true });
    rmSync(folder, { recursive: true, force: true });
    step(name, 'python3', ['-m', 'venv', folder]);
    step(name, join(folder, 'bin/pip'), ['install', '--quiet', ...packages]);
    mkdirSync(`${finished}.new`);
    renameSync(`${finished}.new`, finished);
  }
  process.stdout.write(`${join(folder, 'bin', command)}\n`);
}

function step(name, command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (status === 0) return;
  process.stderr.write(`no ${name}: ${command} failed\n${stderr ?? ''}`);
  process.exit(SKIPPED);
}
