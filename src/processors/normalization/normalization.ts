/**
 * The `normalization` processor: reads model calls, tool steps, retrievals and whatever else AI applications report out of the
 * dialect they are told in, and fills the derived columns. What the dialects are is data, in `src/dialects`.
 */
import { CACHE_COUNTING } from '../../component/cache-counting.ts';
import type { Capabilities } from '../../component/capability.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Batch, Tables } from '../../model/batch.ts';
import { Knowledge } from './knowledge.ts';
import { RecordNormalizer } from './record-normalizer.ts';

export type NormalizationOptions = Readonly<Record<string, never>>;

class Normalization implements Processor {
  readonly #capabilities: Capabilities;
  #knowledge: Knowledge | null = null;

  constructor(capabilities: Capabilities) {
    this.#capabilities = capabilities;
  }

  prepare(tables: Tables): void {
    this.#knowledge = this.#learn(tables);
  }

  process(batch: Batch): void {
    if (batch.signal === 'metrics') return;
    this.#knowledge ??= this.#learn(batch.tables);
    const records = new RecordNormalizer(this.#knowledge, batch);
    for (let record = 0; record < batch.recordCount; record++) records.normalize(record);
  }

  #learn(tables: Tables): Knowledge {
    return new Knowledge(tables, this.#capabilities.find(CACHE_COUNTING));
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
  create: (_, { capabilities }) => new Normalization(capabilities),
});
