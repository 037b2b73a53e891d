/** The `drop_attribute` processor: attributes with one of the given names are not stored. */
import { defineProcessor } from 'sluice';

export const dropAttribute = defineProcessor({
  type: 'drop_attribute',
  summary: 'Drops attributes by name.',
  stability: 'development',
  schema: {
    type: 'object',
    additionalProperties: false,
    required: ['names'],
    properties: {
      names: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 }, description: 'What is dropped.' },
    },
  },
  example: 'names: [user.email]',
  requires: [],
  provides: [],
  create: ({ names }, host) => {
    const dropped = host.meter.counter('acme_dropped_attributes', 'Attributes that were not stored.');
    /** The names as symbols. Each set of tables has its own. */
    const symbolsOf = new WeakMap();
    return {
      prepare(tables) {
        symbolsOf.set(tables, new Set(names.map((name) => tables.symbol(name))));
      },
      *process(batch) {
        const symbols = symbolsOf.get(batch.tables);
        let count = 0;
        for (const attributes of batch.attributeSlices()) {
          while (attributes.next()) {
            if (!symbols.has(attributes.symbol)) continue;
            attributes.drop();
            count += 1;
          }
          yield;
        }
        if (count > 0) dropped.add(count, { signal: batch.signal });
      },
    };
  },
});
