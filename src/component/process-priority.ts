/** The priority of processes that work beside ingest. */
import { setPriority } from 'node:os';

/** A process that ended, or that a sandbox protects, keeps its priority. */
export function yieldToIngest(pid: number | undefined, priority: number): void {
  try {
    if (pid !== undefined) setPriority(pid, priority);
  } catch {
    // The process works without a lower priority.
  }
}
