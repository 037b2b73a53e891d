/** The `record_limit` processor: refuses a request that holds more records than its project should send at once. */
import { defineProcessor, Rejection } from 'sluice';

export const recordLimit = defineProcessor({
  type: 'record_limit',
  summary: 'Refuses requests with more records than a limit.',
  stability: 'development',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      max_records: { type: 'integer', minimum: 1, default: 1000, description: 'Most records a request may hold.' },
    },
  },
  example: 'max_records: 1000',
  requires: ['project'],
  provides: [],
  create: (options, host) => {
    const refused = host.meter.counter('acme_record_limit_refusals', 'Requests over the limit.');
    return {
      process(batch) {
        if (batch.recordCount <= options.max_records) return;
        refused.add(1, { signal: batch.signal });
        throw new Rejection('body_too_large', { hint: `more than ${options.max_records} records` });
      },
    };
  },
});
