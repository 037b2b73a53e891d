/**
 * The `normalization` processor: reads model calls, tool steps, retrievals and other steps of AI applications from the
 * dialect of their sender and fills the derived columns. The dialects are data, in `src/dialects`.
 */
import { CACHE_COUNTING } from '../../component/capabilities/cache-counting.ts';
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Batch, Tables } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { LookupTables } from './lookup-tables.ts';
import { RecordNormalizer } from './record-normalizer.ts';

/** Records handled in one step: some take 70 µs. */
const STEP = 16;

export type NormalizationOptions = Readonly<Record<string, never>>;

class Normalization implements Processor {
  readonly #capabilities: Capabilities;
  readonly #lookups = new WeakMap<Tables, LookupTables>();

  constructor(capabilities: Capabilities) {
    this.#capabilities = capabilities;
  }

  prepare(tables: Tables): void {
    this.#knowledgeOf(tables);
  }

  *process(batch: Batch): Steps {
    if (batch.signal === 'metrics') return;
    const lookups = this.#knowledgeOf(batch.tables);
    yield* lookups.keys.begin(batch.tables);
    const records = new RecordNormalizer(lookups, batch);
    for (let record = 0; record < batch.recordCount; record++) {
      records.normalize(record);
      if (record % STEP === STEP - 1) yield;
    }
  }

  #knowledgeOf(tables: Tables): LookupTables {
    let lookups = this.#lookups.get(tables);
    if (lookups === undefined) {
      lookups = new LookupTables(tables, this.#capabilities.find(CACHE_COUNTING));
      this.#lookups.set(tables, lookups);
    }
    return lookups;
  }
}

export const normalization = defineProcessor<NormalizationOptions>({
  type: 'normalization',
  summary: 'Reads model calls, tool steps and retrievals from the dialects of instrumentations.',
  stability: 'beta',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  example: '{}',
  requires: ['environment'],
  provides: ['derived'],
  create: (_, { capabilities }) => new Normalization(capabilities),
});
