/** Shows the SDK's warnings on the console, unless the application shows them in its own way. */
import { diag, DiagConsoleLogger, DiagLogLevel } from '@opentelemetry/api';

/** The place where all copies of the API keep what was registered. */
const REGISTRY = Symbol.for('opentelemetry.js.api.1');

/** Without a logger, `diag` is silent, and a refused key would never be noticed. */
export function showWarnings(): void {
  const registered = (globalThis as { readonly [REGISTRY]?: { readonly diag?: unknown } })[REGISTRY];
  if (registered?.diag !== undefined) return;
  const level = process.env['OTEL_LOG_LEVEL'] ?? '';
  const named = DiagLogLevel[level.toUpperCase() as keyof typeof DiagLogLevel];
  diag.setLogger(new DiagConsoleLogger(), { logLevel: named ?? DiagLogLevel.WARN });
}
