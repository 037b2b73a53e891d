/** How many files and sockets this process may have open at once. */
import { readFileSync } from 'node:fs';

/** Null where the system does not tell. */
export function openFileLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/mu.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    return null;
  }
}
