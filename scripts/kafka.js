// Fetches the libraries of a Kafka broker (kafka.xml) with Maven and prints their folder. They are cached below the
// user's cache folder, by manifest. Exit code 77, with the reason, if they cannot be had. Needs a JDK of version 17.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SKIPPED = 77;
const OLDEST_JAVA = 17;

const manifest = join(dirname(fileURLToPath(import.meta.url)), 'kafka.xml');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice');
const hash = createHash('sha256').update(readFileSync(manifest)).digest('hex').slice(0, 12);
const folder = join(cache, `kafka-${hash}`);

const java = Number(/ (\d+)/.exec(step('javac', ['-version']))?.[1]);
if (!(java >= OLDEST_JAVA)) skip(`Java ${java} is older than ${OLDEST_JAVA}`);
if (!existsSync(folder)) install();
process.stdout.write(`${folder}\n`);

function install() {
  process.stderr.write('fetching the libraries of a Kafka broker, once\n');
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${work}`];
  const failure = failureOf('mvn', ['-q', '-B', '-ntp', '-f', manifest, ...goal]);
  if (failure === null) renameSync(work, folder);
  rmSync(work, { recursive: true, force: true });
  if (failure !== null) skip(failure);
}

function step(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) skip(`${command} failed`);
  return `${stdout} ${stderr}`;
}

function failureOf(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status === 0) return null;
  return `${command} failed: ${error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-3).join(' | ')}`;
}

function skip(reason) {
  process.stderr.write(`no Kafka: ${reason}\n`);
  process.exit(SKIPPED);
}
