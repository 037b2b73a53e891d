/**
 * The `normalization` processor: reads model calls, tool steps, retrievals and whatever else AI applications report out of the
 * dialect they are told in, and fills the derived columns. What the dialects are is data, in `src/dialects`.
 */
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Batch, Tables } from '../../model/batch.ts';
import { Knowledge } from './knowledge.ts';
import { RecordNormalizer } from './record-normalizer.ts';

export type NormalizationOptions = Readonly<Record<string, never>>;

class Normalization implements Processor {
  #knowledge: Knowledge | null = null;

  prepare(tables: Tables): void {
    this.#knowledge = new Knowledge(tables);
  }

  process(batch: Batch): void {
    if (batch.signal === 'metrics') return;
    this.#knowledge ??= new Knowledge(batch.tables);
    const records = new RecordNormalizer(this.#knowledge, batch);
    for (let record = 0; record < batch.recordCount; record++) records.normalize(record);
  }
}

export const normalization = defineProcessor<NormalizationOptions>({
  type: 'normalization',
  summary: 'Reads model calls, tool steps and retrievals out of the dialects that instrumentations speak.',
  stability: 'beta',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  example: '{}',
  requires: ['environment'],
  provides: ['derived'],
  create: () => new Normalization(),
});
