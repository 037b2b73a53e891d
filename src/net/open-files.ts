/** The limit of open files and sockets of this process. */
import { readFileSync } from 'node:fs';

/** Null where the system does not report it. */
export function openFileLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/mu.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
