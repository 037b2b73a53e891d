/** How long a test waits for what must happen. It only ends a test that hangs: no machine is too busy for this. */
export const PATIENCE_MS = 120_000;
