/**
 * Signals a process that was seen a moment ago. A process that has ended since then is no error: a backend of
 * PostgreSQL or an autovacuum worker can end at any time.
 */
export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
