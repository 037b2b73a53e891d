/** Renders values as JSON text in steps: a nested value may be as large as a body. */
import type { Tables } from './tables.ts';
import * as layout from './layout.ts';
import { WireFault } from './load-wasm.ts';
import type { Steps } from './steps.ts';
import { readTextInSteps } from './text.ts';

/** The value of an attribute row; null when scratch has no room for it. The scratch that it took is released. */
export function* renderJson(tables: Tables, row: number): Steps<string | null> {
  const scratch = tables.header(layout.HEADER_SCRATCH);
  try {
    yield* tables.inSteps(() => tables.kernels.renderJson(row));
    const { offset, length } = tables.returned();
    return yield* readTextInSteps(tables.memory, offset, length, 0);
  } catch (error) {
    if (error instanceof WireFault) return null;
    throw error;
  } finally {
    tables.setHeader(layout.HEADER_SCRATCH, scratch);
  }
}
