/** The figures about the process that the Collector publishes too, so that its dashboards show them. */
import { memoryUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { performance } from 'node:perf_hooks';
import type { Meter } from '../../component/meter.ts';

export function observeProcess(meter: Meter, cpuSeconds: () => number): void {
  meter.gauge('otelcol_process_uptime_seconds', 'Uptime of the process.', () => performance.now() / 1000);
  meter.gauge('otelcol_process_memory_rss_bytes', 'Resident memory of the process.', () => memoryUsage.rss());
  meter.gauge(
    'otelcol_process_runtime_heap_alloc_bytes',
    'JavaScript heap in use.',
    () => getHeapStatistics().used_heap_size,
  );
  meter.gauge('otelcol_process_cpu_seconds', 'CPU time used, user and system.', cpuSeconds);
}
