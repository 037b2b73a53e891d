/** What tells a worker from any other process, and how often it gives a sign of life. */

/** Set for workers by their primary. */
export const WORKER_VARIABLE = 'SLUICE_WORKER';
export const BEAT_MS = 1_000;

/** The variable alone would make a worker of whatever a worker starts. */
export function isWorker({ env, connected }: Pick<NodeJS.Process, 'env' | 'connected'>): boolean {
  return env[WORKER_VARIABLE] !== undefined && connected;
}
