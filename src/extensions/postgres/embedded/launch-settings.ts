/**
 * Server settings that depend on the machine, or that databases of earlier releases lack. The operator's settings take
 * precedence.
 */
import { readFile } from 'node:fs/promises';
import { platform, totalmem } from 'node:os';
import { join } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import type { ServerFolder } from './server-folder.ts';

/**
 * A backend that has written this much asks the kernel to begin writing it to the disk. With PostgreSQL's default, 0,
 * the kernel collects hundreds of MiB under load, and all commits wait while a checkpoint syncs them at once. Linux
 * only: elsewhere the request is slow or has no effect. `bench/server-settings.js` compares values.
 */
const FLUSH_SETTINGS: Readonly<Record<string, string>> = platform() === 'linux' ? { backend_flush_after: '512kB' } : {};

/**
 * A query about all stored days locks 15 tables and indexes for each of them. With PostgreSQL's default, 64, two such
 * queries at once fail with a retention of a year. These cost 14 MB more shared memory.
 */
const LOCK_SETTINGS: Readonly<Record<string, string>> = { max_locks_per_transaction: '256' };

/**
 * A worker uses at most seven connections, the primary five. 150 connections cost 8 MB more shared memory than the
 * earlier 50.
 */
export const DEFAULT_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '150',
  ...FLUSH_SETTINGS,
  ...LOCK_SETTINGS,
};
const FORMER_MAX_CONNECTIONS = '50';
/** Below this limit the server gets smaller buffers: some 210 MiB under load instead of 310. */
const LITTLE_MEMORY_BYTES = 1 << 30;
const LITTLE_MEMORY_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '64MB',
  max_parallel_workers_per_gather: '0',
};

/** Settings for the server's command line, instead of unchanged defaults. */
export async function launchSettings(
  serverFolder: ServerFolder,
  host: HostProcess,
): Promise<Readonly<Record<string, string>>> {
  const set = await readSettings(serverFolder.cluster);
  const memory = host.constrainedMemory?.() || Number.POSITIVE_INFINITY;
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries({ ...FLUSH_SETTINGS, ...LOCK_SETTINGS }))
    if (!set.has(name)) settings[name] = value;
  if (set.get('max_connections') === FORMER_MAX_CONNECTIONS)
    settings['max_connections'] = DEFAULT_SETTINGS['max_connections'] ?? '';
  if (Math.min(memory, totalmem()) >= LITTLE_MEMORY_BYTES) return settings;
  for (const [name, value] of Object.entries(LITTLE_MEMORY_SETTINGS)) {
    const found = set.get(name);
    if (found === undefined || found === DEFAULT_SETTINGS[name]) settings[name] = value;
  }
  return settings;
}

/** The settings of the configuration files. ALTER SYSTEM writes the second file, which takes precedence. */
async function readSettings(cluster: string): Promise<ReadonlyMap<string, string>> {
  const names = ['postgresql.conf', 'postgresql.auto.conf'];
  const texts = await Promise.all(names.map((name) => readFile(join(cluster, name), 'utf8').catch(() => '')));
  const lines = texts.flatMap((text) => [...text.matchAll(/^\s*(\w+)\s*=?\s*'?([\w.]+)/gm)]);
  return new Map(lines.map(([, name = '', value = '']) => [name, value]));
}
