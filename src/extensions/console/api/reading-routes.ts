/** The routes that read stored telemetry. */
import type { Route } from '../server/route.ts';
import { listConversations, listTurns } from './conversations.ts';
import { exportRows, exportTrace } from './export.ts';
import { listFacets } from './facets.ts';
import { showHistogram } from './histogram.ts';
import { showLive } from './live.ts';
import { listLogs, listTraceLogs } from './logs.ts';
import { showMarkdown } from './markdown.ts';
import { showMetric } from './metric-series.ts';
import { listMetrics } from './metrics.ts';
import { showContent, showSpan } from './span.ts';
import { listSpans } from './spans.ts';
import { listSteps } from './steps.ts';
import { listTools } from './tools.ts';
import { listTop } from './top.ts';
import { placeTrace, showTrace } from './trace.ts';
import { listTraces } from './traces.ts';
import { showUsage } from './usage.ts';

export const READING_ROUTES: readonly Route[] = [
  listTraces,
  showHistogram,
  listTop,
  listTools,
  showTrace,
  placeTrace,
  listSpans,
  showSpan,
  showContent,
  listSteps,
  listTraceLogs,
  exportTrace,
  showMarkdown,
  listConversations,
  listTurns,
  showUsage,
  listLogs,
  listMetrics,
  showMetric,
  listFacets,
  showLive,
  exportRows,
];
