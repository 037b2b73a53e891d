/** Two parts of one configuration that listen on one address, or write one file, are refused with both places. */
import t from 'tap';
import { COMPONENTS } from '../../src/components.ts';
import type { Config } from '../../src/config/config.ts';
import { load } from '../support/config-files.ts';

interface Places {
  readonly http?: string;
  readonly grpc?: string;
  readonly health?: string;
  readonly metrics?: string;
  readonly telemetry?: string;
  readonly extensions?: string;
  readonly exporters?: string;
}

const config = ({
  http = '"127.0.0.1:0"',
  grpc = '"127.0.0.1:0"',
  health = '"127.0.0.1:0"',
  metrics = '"127.0.0.1:0"',
  telemetry = `{ metrics: { endpoint: ${metrics} } }`,
  extensions = 'health_check',
  exporters = 'file',
}: Places): string => `
extensions: { health_check: { endpoint: ${health} }, console: {}, postgres: {} }
receivers: { otlp: { protocols: { http: { endpoint: ${http} }, grpc: { endpoint: ${grpc} } } } }
processors: { auth: {}, environment: {} }
exporters: { file: { path: a/x.ndjson }, file/2: { path: ./a/../a/x.ndjson }, file/3: { path: y.ndjson } }
service:
  ledger: memory
  telemetry: ${telemetry}
  extensions: [${extensions}]
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment], exporters: [${exporters}] }
`;

const loaded = (places: Places): Promise<Config> => load({ 'a.yaml': config(places) }, { definitions: COMPONENTS });

const HTTP = 'receivers.otlp.protocols.http.endpoint';

t.test('one address of two listeners is refused with both places', async (t) => {
  const same: readonly (readonly [http: string, grpc: string])[] = [
    ['127.0.0.1:4318', '127.0.0.1:4318'],
    ['0.0.0.0:4318', '127.0.0.1:4318'],
    ['10.1.2.3:4318', '0.0.0.0:4318'],
    [':4318', '127.0.0.1:4318'],
    ['[::]:4318', '0.0.0.0:4318'],
    ['[::1]:4318', '[0:0:0:0:0:0:0:1]:04318'],
    ['[::1]:4318', ':4318'],
    ['[fe80::1%lo]:4318', '[fe80::1%lo]:4318'],
    ['localhost:4318', 'LOCALHOST:4318'],
    ['unix:///run/otlp.sock', 'unix:/run/../run/otlp.sock'],
  ];
  for (const [http, grpc] of same) {
    const taken = `a.yaml:3:\\d+: error: ${grpc} is taken: ${HTTP} is ${http} at a.yaml:3:\\d+\\n`;
    const pattern = new RegExp(taken.replace(/[.[\]]/gu, '\\$&'), 'u');
    await t.rejects(loaded({ http: `"${http}"`, grpc: `"${grpc}"` }), { message: pattern }, `${http} and ${grpc}`);
  }
});

t.test('different addresses are valid', async (t) => {
  const different: readonly (readonly [http: string, grpc: string])[] = [
    ['127.0.0.1:4318', '127.0.0.1:4317'],
    ['127.0.0.1:4318', '127.0.0.2:4318'],
    ['[::1]:4318', '127.0.0.1:4318'],
    ['[::1]:4318', '0.0.0.0:4318'],
    ['127.0.0.1:0', '127.0.0.1:0'],
    ['no-such-host.invalid:4318', '127.0.0.1:4318'],
    ['unix:///run/otlp.sock', 'unix:///run/other.sock'],
  ];
  for (const [http, grpc] of different)
    await t.resolves(loaded({ http: `"${http}"`, grpc: `"${grpc}"` }), `${http} and ${grpc}`);
});

t.test('a default counts, and the error is at the option that is written', async (t) => {
  const byDefault =
    /^a\.yaml:3:\d+: error: 0\.0\.0\.0:8888 is taken: service\.telemetry\.metrics\.endpoint is 127\.0\.0\.1:8888 by default\n/u;
  await t.rejects(loaded({ http: '"0.0.0.0:8888"', telemetry: '{}' }), { message: byDefault });
  await t.rejects(loaded({ grpc: '"127.0.0.1:4319"', extensions: 'postgres, console' }), {
    message: /error: 127\.0\.0\.1:4319 is taken: extensions\.console\.endpoint is 127\.0\.0\.1:4319 by default\n/u,
  });
});

t.test('every listener is compared: readiness, metrics, the socket of the status', async (t) => {
  await t.rejects(loaded({ http: '":1234"', health: '"127.0.0.1:1234"' }), { message: /health_check.endpoint/u });
  await t.rejects(loaded({ health: '":1234"', metrics: '"127.0.0.1:1234"' }), { message: /health_check.endpoint/u });
  const telemetry = '{ metrics: { enabled: false }, status: { socket: ./a/x.ndjson } }';
  await t.rejects(loaded({ telemetry }), {
    message: /error: \.\/a\/x\.ndjson is taken: exporters\.file\.path is a\/x\.ndjson at a\.yaml:5:\d+\n/u,
  });
});

t.test('what is not used, or not served, takes no address', async (t) => {
  await t.resolves(loaded({ http: '"127.0.0.1:4319"' }), 'the console is not in service.extensions');
  await t.resolves(loaded({ http: '"127.0.0.1:8888"', telemetry: '{ metrics: { enabled: false } }' }));
  await t.resolves(loaded({ exporters: 'file, file/3' }));
});

t.test('one file of two file exporters is refused', async (t) => {
  await t.rejects(loaded({ exporters: 'file, file/2' }), {
    message:
      /is taken: exporters\.file\.path is a\/x\.ndjson at a\.yaml:5:28\n(?:.*\n)*.*give exporters\.file\/2\.path a path/u,
  });
});
