/** Runs code whose HTTP requests make no spans. Otherwise each export would make spans, which need another export. */
import { context, createContextKey } from '@opentelemetry/api';

/** The key of `suppressTracing` in `@opentelemetry/core`. Keys of the same name are equal in all copies of the API. */
const SUPPRESS_TRACING = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

export function untraced<T>(task: () => T): T {
  return context.with(context.active().setValue(SUPPRESS_TRACING, true), task);
}
