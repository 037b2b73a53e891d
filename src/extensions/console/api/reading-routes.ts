/** The routes that read stored telemetry. */
import type { Route } from '../server/route.ts';
import { listLogs, listTraceLogs } from './logs.ts';
import { showContent, showSpan } from './span.ts';
import { listSpans } from './spans.ts';
import { listSteps } from './steps.ts';
import { placeTrace, showTrace } from './trace.ts';
import { listTraces } from './traces.ts';

export const READING_ROUTES: readonly Route[] = [
  listTraces,
  showTrace,
  placeTrace,
  listSpans,
  showSpan,
  showContent,
  listSteps,
  listTraceLogs,
  listLogs,
];
