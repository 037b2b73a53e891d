/** The executable as a process, with its output and exit code. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

export const BIN = fileURLToPath(new URL('../../../bin/sluice.js', import.meta.url));

export interface Executable {
  readonly child: ChildProcess;
  readonly output: { out: string; err: string };
  /** The exit code, or null after a signal. */
  readonly ended: Promise<number | null>;
  /** Resolves when the output has this text `times` times. Rejects when the process ends before. */
  until(text: string, times?: number): Promise<void>;
}

export function startExecutable(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>> = {},
): Executable {
  const child = spawn(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...process.env, SLUICE_KEY: '', DATABASE_URL: '', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watchExecutable(child);
}

/** Wraps a process that was started in another way. */
export function watchExecutable(child: ChildProcessByStdio<Writable | null, Readable, Readable>): Executable {
  const output = { out: '', err: '' };
  const waiting = new Set<() => void>();
  const note = (stream: 'out' | 'err') => (chunk: Buffer) => {
    output[stream] += chunk.toString();
    for (const look of waiting) look();
  };
  child.stdout.on('data', note('out'));
  child.stderr.on('data', note('err'));
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const until = (text: string, times = 1): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (countOf(text, output.out) < times && countOf(text, output.err) < times) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
      void ended.then((code) => {
        const last = output.err.trim().split('\n').slice(-3).join(' | ');
        reject(new Error(`ended with ${code} before "${text}": ${last}`));
      });
    });
  return { child, output, ended, until };
}

function countOf(text: string, output: string): number {
  return output.split(text).length - 1;
}

/** A folder that the embedded server's unprivileged user can enter, removed at the end. */
export function openFolder(t: { teardown(task: () => Promise<void>): unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-cli-'));
  chmodSync(folder, 0o755);
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** Below the range of ephemeral ports, so that the port stays free while the process is restarted. */
const LOWEST_PORT = 20_000;
const HIGHEST_PORT = 32_000;

/** Ports of this process, which may not be in use yet. */
const given = new Set<number>();

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
    if (given.has(port) || !(await canListen(port))) continue;
    given.add(port);
    return port;
  }
}

function canListen(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
