/** File systems of a test. They need the right to mount. */
import { execFileSync } from 'node:child_process';
import { isRoot } from './unprivileged.ts';

export function mount(t: { teardown(task: () => void): unknown }, folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  t.teardown(() => execFileSync('umount', [folder]));
}

export const canMount = (() => {
  try {
    execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' });
    return isRoot;
  } catch {
    return false;
  }
})();
