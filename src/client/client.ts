/** `sluice/client`: sends the telemetry of a Node application to Sluice, by the client guidance of the contract. */
export type { ConnectionOptions } from './connection.ts';
export {
  type ExporterOptions,
  type MetricExporterOptions,
  SluiceLogExporter,
  SluiceMetricExporter,
  SluiceTraceExporter,
} from './exporters.ts';
export { type Client, type SetupOptions, flush, setup, shutdown } from './setup.ts';
export { SluiceSpanProcessor, type SpanProcessorOptions } from './span-processor.ts';
