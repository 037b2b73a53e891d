/** Exporters and receivers without options, whose behaviour a test gives. */
import { defineExporter, type Exporter } from '../../src/component/exporter.ts';
import { defineReceiver, type Pipeline } from '../../src/component/receiver.ts';
import type { Signal } from '../../src/pdata/context.ts';

const PLAIN = {
  summary: 'Does what the test says.',
  stability: 'development',
  schema: { type: 'object', additionalProperties: false, properties: {} },
  example: '{}',
} as const;

/** An exporter of all signals. `create` is called for each id of the configuration. */
export const actingExporter = (type: string, create: () => Exporter) =>
  defineExporter<object>({ ...PLAIN, type, requires: [], signals: ['traces', 'logs', 'metrics'], create });

/** The receiver `receiving`, which gives its pipelines to the test. */
export const receivingInto = (pipelines: Map<Signal, Pipeline>) =>
  defineReceiver<object>({
    ...PLAIN,
    type: 'receiving',
    signals: ['traces'],
    create: (_options, _host, given) => {
      for (const [signal, pipeline] of given) pipelines.set(signal, pipeline);
      return {};
    },
  });
