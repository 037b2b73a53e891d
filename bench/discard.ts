/** An exporter that discards rows, to measure everything before the exporter. */
import { defineExporter } from '../src/component/exporter.ts';
import { ChunkPool } from '../src/pdata/chunk-pool.ts';
import { encodeInSteps, type RowFormat } from '../src/pdata/encode-rows.ts';

export const discard = defineExporter<{ readonly format: RowFormat }>({
  type: 'discard',
  summary: 'Encodes rows and drops them.',
  stability: 'development',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: { format: { enum: ['ndjson', 'copy'], default: 'ndjson', description: 'Form of the rows.' } },
  },
  example: '{}',
  requires: ['project', 'environment'],
  signals: ['traces', 'logs', 'metrics'],
  create: ({ format }) => {
    const pool = new ChunkPool();
    return { encode: (batch) => encodeInSteps(batch, format, pool), write: async () => undefined };
  },
});
