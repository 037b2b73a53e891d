/** Helpers of the tests of the embedded server: a folder, a server in it, its log, a query. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { ServerAddress } from '../../../../src/extensions/postgres/embedded/address.ts';
import { isAlive } from '../../../../src/component/process-life.ts';
import { EmbeddedServer, type ServerOptions } from '../../../../src/extensions/postgres/embedded/server.ts';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

const run = promisify(execFile);

interface Scope {
  teardown(task: () => Promise<void>): unknown;
}

export interface Recorder {
  readonly lines: string[];
  info(message: string): void;
  warn(message: string): void;
}

export function recorder(): Recorder {
  const lines: string[] = [];
  const record = (message: string): void => {
    lines.push(message);
  };
  return { lines, info: record, warn: record };
}

/** An empty folder that every user may enter, removed at the end. */
export async function folderFor(t: Scope): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-embedded-'));
  await chmod(folder, 0o755);
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

let seed: Promise<string> | undefined;

/** A folder with a database that is created once in the process: copying it is much faster than a first start. */
export async function folderWithDatabase(t: Scope): Promise<string> {
  seed ??= makeSeed();
  const folder = await folderFor(t);
  await run('cp', ['-a', `${await seed}/.`, folder]);
  return folder;
}

async function makeSeed(): Promise<string> {
  const ofProcess: Scope = { teardown: () => undefined };
  const folder = await folderFor(ofProcess);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { server } = serverFor(ofProcess, folder);
  await server.start();
  await server.stop();
  return folder;
}

/** The heartbeat of the lock in these tests, a fifth of the interval in production. */
const HEARTBEAT_MS = 400;

/** A server that is stopped at the end; without fsync unless the test is about the defaults. */
export function serverFor(t: Scope, dataDir: string, options: Partial<ServerOptions> = {}) {
  const log = recorder();
  const defaults = { settings: { fsync: 'off' }, heartbeatMs: HEARTBEAT_MS };
  const server = new EmbeddedServer({ dataDir, host: process, log, ...defaults, ...options });
  t.teardown(() => server.stop());
  return { server, log };
}

export async function query(address: ServerAddress, text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...address });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export interface Daemon {
  readonly child: ChildProcess;
  /** What it printed once it was up. */
  said(): Promise<{ readonly address: ServerAddress; readonly pid: number; readonly error?: string }>;
}

/** Starts `daemon.ts` as a process, optionally as another user or by another program (`unshare …`). */
export function daemonFor(t: Scope, dataDir: string, uid?: number, by: readonly string[] = []): Daemon {
  const script = fileURLToPath(new URL('./daemon.js', import.meta.url));
  const [program = '', ...words] = [...by, process.execPath, script, dataDir, String(HEARTBEAT_MS)];
  const child = spawn(program, words, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { HOME: '/', PATH: process.env['PATH'] },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  t.teardown(() => killed(child.pid));
  const said = async () => JSON.parse(String((await once(child.stdout, 'data'))[0]));
  return { child, said };
}

/** Kills a process without warning and waits for its end. */
export async function killed(pid: number | undefined): Promise<void> {
  // Zero would mean all processes of our own group.
  if (!pid) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    return;
  }
  await waitFor(async () => ((await isAlive(process, pid)) ? undefined : true), { timeoutMs: PATIENCE_MS });
}
