/** Components that several workers cannot share, or that do not fit the ledger, are refused with their place. */
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import { load } from '../support/config-files.ts';

const config = (exporter: string, ledger: string): string => `
extensions: { postgres: {}, health_check: {} }
receivers: { otlp: {} }
processors: { auth: {}, environment: {} }
exporters: { postgres: {}, file: {}, objects: {}, otlp_http: { endpoint: "http://127.0.0.1:1" } }
service:
  ledger: ${ledger}
  extensions: [postgres, health_check]
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment], exporters: [${exporter}] }
`;

const loaded = (text: string, workers: number) => load({ 'a.yaml': text }, { definitions: COMPONENTS, workers });

t.test('the file exporter and the ledger in memory are refused with several workers', async (t) => {
  await t.rejects(loaded(config('postgres, file', 'postgres'), 2), {
    message:
      /^a\.yaml:10:\d+: error: the exporter "file" works in one process, and there are 2 workers\n(?:.*\n)*.*hint: take it out, or run a single process/u,
  });
  await t.rejects(loaded(config('file', 'memory'), 3), {
    message: /a\.yaml:7:11: error: each of 3 workers would have a ledger of its own/u,
  });
});

t.test('exporters that write within the transactions of Postgres need its ledger', async (t) => {
  for (const exporter of ['postgres', 'objects', 'otlp_http']) {
    const message = `the exporter "${exporter}" writes within the transactions of the postgres ledger`;
    await t.rejects(loaded(config(`file, ${exporter}`, 'memory'), 1), { message: new RegExp(message) }, exporter);
  }
});

t.test('unused components, and a single process, are valid', async (t) => {
  await t.resolves(loaded(config('postgres', 'postgres'), 2));
  await t.resolves(loaded(config('postgres, file', 'postgres'), 1));
  await t.resolves(loaded(config('file', 'memory'), 1));
});
