/** The SDKs with a sender: requirements, protocols, installation and command. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

export interface Sdk {
  readonly language: string;
  readonly version: string;
  /** Protocols without an exporter, with the reason. */
  readonly missing: Partial<Record<Protocol, string>>;
  /** Installs and builds what is missing. Throws `Unavailable` when that is not possible. */
  prepare(): Command;
}

/** The sender cannot run on this machine. */
export class Unavailable extends Error {}

const SOURCES = fileURLToPath(new URL('../../../test/interop', import.meta.url));
/** Installed packages are kept here. */
export const CACHE = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'sluice');
const STEP_TIMEOUT_MS = 10 * 60_000;

const source = (path: string): string => join(SOURCES, path);
const textOf = (path: string): string => readFileSync(source(path), 'utf8');

export function step(command: string, args: readonly string[], cwd = SOURCES): void {
  const { status, error, stderr, stdout } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: STEP_TIMEOUT_MS,
  });
  if (status === 0) return;
  const said = `${stdout ?? ''}${stderr ?? ''}`.trim().split('\n').slice(-3).join(' | ');
  throw new Unavailable(`${command} ${args[0]}: ${error?.message ?? said}`);
}

/** A folder that is created once for each content of its source files. */
function cached(name: string, files: readonly string[], make: (folder: string) => void): string {
  const hash = createHash('sha256').update(files.map(textOf).join('\0')).digest('hex').slice(0, 12);
  const folder = join(CACHE, `interop-${name}-${hash}`);
  if (existsSync(folder)) return folder;
  mkdirSync(CACHE, { recursive: true });
  const work = mkdtempSync(`${folder}-`);
  try {
    make(work);
    renameSync(work, folder);
  } catch (error) {
    rmSync(work, { recursive: true, force: true });
    throw error;
  }
  return folder;
}

const found = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? '?';

export const SDKS: readonly Sdk[] = [
  {
    language: 'JavaScript',
    version: found(
      readFileSync(join(SOURCES, '../../package.json'), 'utf8'),
      // The exact version of the tests; the range of the peer dependency begins with a caret.
      /"@opentelemetry\/sdk-trace-node": "(\d[^"]*)"/,
    ),
    missing: {},
    prepare: () => ({ command: process.execPath, args: [fileURLToPath(new URL('./javascript.js', import.meta.url))] }),
  },
  {
    language: 'Python',
    version: found(textOf('python/requirements.txt'), /opentelemetry-sdk==(\S+)/),
    missing: { 'http/json': 'no JSON exporter' },
    prepare: () => {
      const folder = cached('python', ['python/requirements.txt'], (work) => {
        // Not a virtual environment, because it cannot be moved.
        const target = ['--target', work, '-r', source('python/requirements.txt')];
        step('python3', ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...target]);
      });
      return { command: 'env', args: [`PYTHONPATH=${folder}`, 'python3', source('python/sender.py')] };
    },
  },
  {
    language: 'Go',
    version: found(textOf('go/go.mod'), /opentelemetry\.io\/otel v(\S+)/),
    missing: { 'http/json': 'no JSON exporter' },
    prepare: () => {
      const folder = cached('go', ['go/go.mod', 'go/go.sum', 'go/main.go'], (work) => {
        step('go', ['build', '-o', join(work, 'sender'), '.'], source('go'));
      });
      return { command: join(folder, 'sender'), args: [] };
    },
  },
  {
    language: 'Java',
    version: found(textOf('java/pom.xml'), /<otel\.version>([^<]+)</),
    missing: { 'http/json': 'no JSON exporter over HTTP' },
    prepare: () => {
      step('java', ['-version']);
      const folder = cached('java', ['java/pom.xml'], (work) => {
        const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${work}`];
        step('mvn', ['-q', '-B', '-ntp', '-f', source('java/pom.xml'), ...goal]);
      });
      return { command: 'java', args: ['-cp', join(folder, '*'), source('java/Sender.java')] };
    },
  },
];
