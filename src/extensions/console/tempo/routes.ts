/** The part of the API of Grafana Tempo that Grafana needs for Explore. Other paths are not found. */
import { json, type Route, text } from '../server/route.ts';
import { searchByQuery } from './search.ts';
import { listPlainTagValues, listTagNames, listTags, listTagValues } from './tags.ts';
import { showTraceV1, showTraceV2 } from './trace.ts';
import { tempoRoute } from './tempo-route.ts';

/** Grafana chooses its requests by this version. */
const VERSION = '2.9.0';

const echo = tempoRoute('/echo', () => text('echo'));

const showBuild = tempoRoute('/status/buildinfo', () =>
  json({ version: VERSION, revision: 'sluice', branch: '', buildUser: '', buildDate: '', goVersion: '' }),
);

/** Metrics of TraceQL. Grafana asks for them in Traces Drilldown. */
const refuseMetrics = ['query', 'query_range'].map((name) =>
  tempoRoute(`/metrics/${name}`, () => text('Sluice has no metrics of TraceQL', 404)),
);

export const TEMPO_ROUTES: readonly Route[] = [
  echo,
  showBuild,
  showTraceV2,
  showTraceV1,
  searchByQuery,
  listTags,
  listTagNames,
  listTagValues,
  listPlainTagValues,
  ...refuseMetrics,
];
