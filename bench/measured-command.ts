/** A command of Sluice in a process of its own, with its time and its peak memory by the kernel (Linux). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const POLL_MS = 100;
const KIB_PER_MIB = 1024;

export interface CommandRun {
  readonly seconds: number;
  readonly peakMib: number;
  readonly printed: string;
}

export interface CommandOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** With the low priority of commands that the daemon starts. */
  readonly yields?: boolean;
}

/** `config`: a name of the folder `config`, or the path of a file. Rejects when the command fails. */
export async function runCommand(
  words: readonly string[],
  config: string,
  { cwd, env = {}, yields = false }: CommandOptions = {},
): Promise<CommandRun> {
  const args = [join(ROOT, 'bin/sluice.js'), ...words, '--config', join(ROOT, 'config', config)];
  const began = performance.now();
  const child = spawn(process.execPath, args, { cwd, env: { ...process.env, ...env, NO_COLOR: '1' } });
  const pid = child.pid ?? 0;
  if (yields && pid !== 0) setPriority(pid, constants.priority.PRIORITY_LOW);
  let peakKib = 0;
  const timer = setInterval(() => {
    peakKib = Math.max(peakKib, peakOf(pid));
  }, POLL_MS);
  const [said, printed] = [text(child.stderr), text(child.stdout)];
  const [code] = (await once(child, 'exit')) as [number];
  clearInterval(timer);
  if (code !== 0) throw new Error(`sluice ${words.join(' ')} ended with ${code}: ${await said}`);
  const seconds = (performance.now() - began) / 1000;
  return { seconds, peakMib: Math.round(peakKib / KIB_PER_MIB), printed: await printed };
}

/** In KiB; 0 when the process has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
