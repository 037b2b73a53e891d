/** A named pipe without a writer. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export function aPipe(folder: string): string {
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}
