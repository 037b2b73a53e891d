/**
 * The `normalization` processor: reads model calls, tool steps, retrievals and other steps of AI applications from the
 * dialect of their sender and fills the derived columns. The dialects are data, in `src/dialects`.
 */
import { CACHE_COUNTING } from '../../component/capabilities/cache-counting.ts';
import type { Capabilities } from '../../component/capabilities/capability.ts';
import { DERIVATIONS, type Derivations } from '../../component/capabilities/derivations.ts';
import { ownDialects } from '../../component/capabilities/own-dialects.ts';
import type { Host } from '../../component/component.ts';
import { defineProcessor, type Processor } from '../../component/processor.ts';
import type { Dialect } from '../../dialects/dialect.ts';
import type { Tables } from '../../pdata/tables.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { DerivingNormalizer } from './derivation.ts';
import { LookupTables } from './lookup-tables.ts';
import { dialectsOf, type MappingOption } from './mappings.ts';
import { MAPPINGS_SCHEMA, mappingFaults } from './mappings-schema.ts';
import { RecordNormalizer } from './record-normalizer.ts';

/** Records handled in one step: some take 70 µs. */
const STEP = 16;

export interface NormalizationOptions {
  readonly mappings?: readonly MappingOption[];
}

class Normalization implements Processor {
  readonly #capabilities: Capabilities;
  readonly #own: readonly Dialect[];
  /** Set by `sluice explain` only. */
  readonly #derivations: Derivations | undefined;
  readonly #lookups = new WeakMap<Tables, LookupTables>();

  constructor(own: readonly Dialect[], capabilities: Capabilities) {
    this.#own = own;
    this.#capabilities = capabilities;
    this.#derivations = capabilities.find(DERIVATIONS);
  }

  prepare(tables: Tables): void {
    this.#lookupsOf(tables);
  }

  *process(batch: Batch): Steps {
    if (batch.signal === 'metrics') return;
    const lookups = this.#lookupsOf(batch.tables);
    yield* lookups.keys.begin(batch.tables);
    const records =
      this.#derivations === undefined
        ? new RecordNormalizer(lookups, batch)
        : new DerivingNormalizer(lookups, batch, this.#derivations);
    for (let record = 0; record < batch.recordCount; record++) {
      records.normalize(record);
      if (record % STEP === STEP - 1) yield;
    }
  }

  #lookupsOf(tables: Tables): LookupTables {
    let lookups = this.#lookups.get(tables);
    if (lookups === undefined) {
      lookups = new LookupTables(tables, this.#capabilities.find(CACHE_COUNTING), this.#own);
      this.#lookups.set(tables, lookups);
    }
    return lookups;
  }
}

/** Offered without mappings too: after a reload that adds some, the components that looked for them are replaced. */
function offerDialects(own: readonly Dialect[], { capabilities, pipeline }: Host): void {
  const capability = ownDialects<Dialect>(pipeline);
  const known = capabilities.find(capability);
  if (known === undefined) capabilities.offer(capability, [...own]);
  else known.push(...own);
}

export const normalization = defineProcessor<NormalizationOptions>({
  type: 'normalization',
  summary: 'Reads model calls, tool steps and retrievals from the dialects of instrumentations.',
  stability: 'beta',
  schema: { type: 'object', additionalProperties: false, properties: { mappings: MAPPINGS_SCHEMA } },
  example: '{}',
  requires: ['environment'],
  provides: ['derived'],
  check: ({ mappings = [] }) => mappingFaults(mappings),
  create: ({ mappings }, host) => {
    const own = dialectsOf(mappings);
    offerDialects(own, host);
    return new Normalization(own, host.capabilities);
  },
});
