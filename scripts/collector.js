// Builds the OpenTelemetry Collector of collector.yaml with Go and prints the path of the executable. It is cached
// below the user's cache folder, by manifest, because a build takes minutes. Exit code 77, with the reason, if it
// cannot be built.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SKIPPED = 77;
const BUILD_TIMEOUT_MS = 20 * 60_000;
const LINES_OF_A_FAILURE = 8;

const manifest = join(dirname(fileURLToPath(import.meta.url)), 'collector.yaml');
const text = readFileSync(manifest, 'utf8');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
const folder = join(cache, `collector-${createHash('sha256').update(text).digest('hex').slice(0, 12)}`);
const executable = join(folder, 'otelcol');

if (!existsSync(executable)) await build();
process.stdout.write(`${executable}\n`);

function skip(reason) {
  process.stderr.write(`no Collector: ${reason}\n`);
  process.exit(SKIPPED);
}

async function build() {
  if (spawnSync('go', ['version']).status !== 0) skip('Go is not installed');
  const version = /otlpreceiver (v\S+)/.exec(text)[1];
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'collector-build-'));
  process.stderr.write(`building the Collector ${version}, once; this takes some minutes\n`);
  const failure = await run(
    'go',
    ['run', `go.opentelemetry.io/collector/cmd/builder@${version}`, '--config', manifest],
    work,
  );
  if (failure === undefined) {
    mkdirSync(folder, { recursive: true });
    renameSync(join(work, 'build/otelcol'), executable);
  }
  rmSync(work, { recursive: true, force: true });
  if (failure !== undefined) skip(failure);
  execFileSync(executable, ['components']);
}

/** The reason of a failure, or undefined. */
function run(command, args, cwd) {
  // Leaves half of the machine to other processes; the builder itself has no limit.
  const child = spawn(command, args, { cwd, timeout: BUILD_TIMEOUT_MS, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const last = said.split('\n').filter((line) => line !== '' && !line.startsWith('go: downloading'));
      resolve(code === 0 ? undefined : `the build failed\n${last.slice(-LINES_OF_A_FAILURE).join('\n')}`);
    });
  });
}
