/**
 * The Grafana dashboard uses the documented metrics, which metrics.test.ts compares with those that exist. No label or
 * log line contains data of a client.
 */
import t from 'tap';
import { FILE_CONFIG, STAGING_KEY, startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { bare, read, section, tableIn } from './markdown.ts';

const MARK = 'the-client-wrote-this';
const METRIC = /\b(?:otelcol|sluice)_[a-z_]+/gu;

interface Dashboard {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
}

const dashboard = JSON.parse(read('config/grafana/daemon.json')) as Dashboard;
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const withoutSuffix = (name: string): string => name.replace(/_(?:bucket|sum|count)$/u, '');
const asked = new Set(expressions.flatMap((expr) => expr.match(METRIC) ?? []).map(withoutSuffix));

t.test('every metric of the dashboard is documented, and every documented metric has a panel', async (t) => {
  const documented = tableIn(section(read('docs/operations.md'), '## Metrics')).map(([name]) => bare(name));
  t.same([...asked].sort(), documented.sort());
});

t.test('after some traffic, neither labels nor the log contain content or keys', async (t) => {
  const daemon = await startDaemon(t, { config: FILE_CONFIG });
  const request = (environment: string): string =>
    JSON.stringify(
      aTraceRequest([aSpan({ name: MARK, attributes: { 'gen_ai.request.model': MARK, [MARK]: MARK } })], {
        'service.name': MARK,
        'deployment.environment.name': environment,
      }),
    );
  t.equal((await send(daemon.url, { body: request('default') })).status, 200);
  t.equal((await send(daemon.url, { body: request('live'), authorization: `Bearer ${STAGING_KEY}` })).status, 403);
  await send(daemon.url, { body: request(MARK), authorization: `Bearer ${MARK}` });
  await send(daemon.url, { body: MARK });
  await send(daemon.url, { path: `/${MARK}`, method: MARK.toUpperCase().slice(0, 3) }).catch(() => undefined);
  await send(daemon.url, { body: request(MARK), headers: { 'content-type': 'application/other' } });
  const printed = daemon.registry.print();
  t.notMatch(printed, MARK);
  t.notMatch(JSON.stringify(daemon.log), MARK);
  t.match(printed, 'otelcol_receiver_accepted_spans{receiver="otlp",transport="http"} 1\n');
  t.match(
    printed,
    'otelcol_receiver_refused_spans{receiver="otlp",transport="http"} 1\n',
    'refused by its environment',
  );
  t.match(printed, 'otelcol_exporter_sent_spans{exporter="file"} 1\n');
});
