/** The time limit of waits in tests. It only ends a test that hangs, also on a busy machine. */
export const PATIENCE_MS = 120_000;
