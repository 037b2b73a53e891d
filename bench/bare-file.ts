/** Measures the file system alone: appends and syncs the same bytes as often as the daemon. */
import { open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface Appends {
  readonly bytes: number;
  readonly perSecond: number;
  readonly milliseconds: number;
}

/**
 * Milliseconds of each append with its sync. Appends that become due during a sync wait for the next one, as in the
 * daemon.
 */
export async function appendAndSync(
  folder: string,
  { bytes, perSecond, milliseconds }: Appends,
): Promise<readonly number[]> {
  const rows = Buffer.alloc(bytes, 'x');
  const path = join(folder, 'bare.ndjson');
  const file = await open(path, 'a');
  const times: number[] = [];
  const gap = 1000 / perSecond;
  const started = performance.now();
  const end = started + milliseconds;
  for (let due = started; due < end; ) {
    await pause(Math.max(0, due - performance.now()));
    const begun = performance.now();
    // All due appends are one group.
    const group = Math.max(1, Math.floor((begun - due) / gap) + 1);
    await file.writev(Array.from({ length: group }, () => rows));
    await file.datasync();
    const ended = performance.now();
    for (let index = 0; index < group; index++, due += gap) times.push(ended - Math.min(due, begun));
  }
  await file.close();
  await unlink(path);
  return times;
}
