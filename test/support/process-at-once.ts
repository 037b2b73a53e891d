/** One processor, without the pipeline: all steps of a batch at once. */
import type { Processor } from '../../src/component/processor.ts';
import type { Batch } from '../../src/pdata/batch.ts';
import { finish } from '../../src/pdata/steps.ts';

export function processAtOnce(processor: Processor, batch: Batch): void {
  const steps = processor.process?.(batch);
  if (steps !== undefined) finish(steps);
}
