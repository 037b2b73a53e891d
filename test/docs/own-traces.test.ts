/** The example module for the daemon's own traces works: the spans of one daemon arrive in another. */
import t from 'tap';
import { FILE_CONFIG, KEY, startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { codeBlocks, read, ROOT } from './markdown.ts';

const PATH = 'docs/examples/own-traces.js';

t.test('docs/operations.md shows the file unchanged', async (t) => {
  t.ok(codeBlocks(read('docs/operations.md'), 'js').includes(read(PATH)));
});

t.test('a daemon with the module sends its spans, the last ones before it ends', async (t) => {
  const target = await startDaemon(t);
  process.env['OTEL_EXPORTER_OTLP_HEADERS'] = `authorization=Bearer ${KEY}`;
  const config = `modules: ["${ROOT}${PATH}"]
extensions: { own_traces: { url: "${target.url}/v1/traces" } }${FILE_CONFIG}`
    .replace('service:\n', 'service:\n  extensions: [own_traces]\n')
    .replace('telemetry: { ', 'telemetry: { traces: { enabled: true }, ');
  const daemon = await startDaemon(t, { config });
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])) })).status, 200);
  await daemon.stop();
  const rows = await target.rows();
  t.match(
    rows.find(({ name }) => name === 'ingest traces'),
    { kind: 'server', service_name: 'sluice', parent_span_id: null },
  );
  t.equal(rows.length, 9);
});
