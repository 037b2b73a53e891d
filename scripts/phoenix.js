// Installs Arize Phoenix, an AI back end that takes OTLP/HTTP, for the side-by-side benchmark, and prints the path of
// its command. It is cached below the user's cache folder, by version. Exit code 77, with the reason, if it cannot be
// installed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const VERSION = '20.26.1';
const SKIPPED = 77;

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
const folder = join(cache, `phoenix-pg-${VERSION}`);
const finished = join(folder, 'finished');

if (!existsSync(finished)) install();
process.stdout.write(`${join(folder, 'bin/phoenix')}\n`);

function install() {
  process.stderr.write(`installing Phoenix ${VERSION}, once; this takes some minutes\n`);
  mkdirSync(cache, { recursive: true });
  rmSync(folder, { recursive: true, force: true });
  step('python3', ['-m', 'venv', folder]);
  step(join(folder, 'bin/pip'), ['install', '--quiet', `arize-phoenix[pg]==${VERSION}`]);
  mkdirSync(`${finished}.new`);
  renameSync(`${finished}.new`, finished);
}

function step(command, args) {
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] });
  if (status === 0) return;
  process.stderr.write(`no Phoenix: ${command} failed\n${stderr ?? ''}`);
  process.exit(SKIPPED);
}
