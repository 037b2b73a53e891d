/** The process metrics of the Collector, so that its dashboards show them. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Meter } from '../../component/meter.ts';

/** Readings of the process, from the daemon's host. */
export interface ProcessReadings {
  cpuSeconds(): number;
  rssBytes(): number;
}

export function observeProcess(meter: Meter, readings: ProcessReadings): void {
  meter.gauge('otelcol_process_uptime', 'Uptime of the process.', () => performance.now() / 1000);
  meter.gauge('otelcol_process_memory_rss', 'Resident memory of the process.', () => readings.rssBytes());
  meter.gauge(
    'otelcol_process_runtime_heap_alloc_bytes',
    'JavaScript heap in use.',
    () => getHeapStatistics().used_heap_size,
  );
  meter.gauge('otelcol_process_cpu_seconds', 'CPU time used, user and system.', () => readings.cpuSeconds());
}
