// Builds a Go program once and caches it below the user's cache folder, because a build takes minutes.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The exit code when something is missing on this machine. */
const SKIPPED = 77;
const BUILD_TIMEOUT_MS = 20 * 60_000;
const LINES_OF_A_FAILURE = 8;

/**
 * Prints the path of the executable. `what`: for messages. `source`: a text that identifies the build. `args`: of
 * `go`, which runs in an empty folder with GOBIN set to it. `built`: the path of the executable in that folder. Exits
 * with 77, with the reason, if it cannot be built.
 */
export async function printGoProgram({ what, source, args, built }) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
  const name = built.split('/').at(-1);
  const folder = join(cache, `${name}-${createHash('sha256').update(source).digest('hex').slice(0, 12)}`);
  const executable = join(folder, name);
  if (!existsSync(executable)) {
    const reason = await build({ what, args, built }, cache, executable);
    if (reason !== null) {
      process.stderr.write(`no ${what}: ${reason}\n`);
      process.exit(SKIPPED);
    }
  }
  process.stdout.write(`${executable}\n`);
}

/** Returns the reason of a failure, or null. */
async function build({ what, args, built }, cache, executable) {
  if (spawnSync('go', ['version']).status !== 0) return 'Go is not installed';
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'build-'));
  process.stderr.write(`building ${what}, once; this takes some minutes\n`);
  const reason = await run('go', args, work);
  if (reason === null) {
    mkdirSync(join(executable, '..'), { recursive: true });
    renameSync(join(work, built), executable);
  }
  rmSync(work, { recursive: true, force: true });
  return reason;
}

/** Returns the reason of a failure, or null. */
function run(command, args, cwd) {
  const env = { ...process.env, GOBIN: cwd };
  const child = spawn(command, args, { cwd, env, timeout: BUILD_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const last = said.split('\n').filter((line) => line !== '' && !line.startsWith('go: downloading'));
      resolve(code === 0 ? null : `the build failed\n${last.slice(-LINES_OF_A_FAILURE).join('\n')}`);
    });
  });
}
