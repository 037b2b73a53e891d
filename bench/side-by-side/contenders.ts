/** Contenders of a comparison: installed, and in a folder that is removed. */
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Contender } from './contender.ts';

/** The path of a contender that a script installs once; undefined if it cannot. */
export function provide(script: string): string | undefined {
  const path = fileURLToPath(new URL(`../../../scripts/${script}`, import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [path], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Stops the contenders at the end, also after a failure. */
export async function inFolder<One extends Contender>(
  name: string,
  work: (folder: string, contenders: One[]) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  // As root, the embedded database runs as another user, which must be able to read the folder.
  await chmod(folder, 0o755);
  const contenders: One[] = [];
  try {
    await work(folder, contenders);
  } finally {
    for (const { client, stop } of contenders) {
      await client.close();
      await stop();
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
