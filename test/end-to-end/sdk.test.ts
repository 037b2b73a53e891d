/** The official OpenTelemetry SDK as a client: what it recorded is compared field by field with what both sinks hold. */
import t, { type Test } from 'tap';
import { KEY } from '../support/daemon.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { recordTelemetry, type Transport } from '../support/sdk-recording.ts';
import { comparable, type ExpectedRow, expectedLog, expectedPoints, expectedSpan } from '../support/sdk-rows.ts';

t.setTimeout(110_000);

const daemon = await startPostgresDaemon(t, { exporters: 'postgres, file' });

const TRANSPORTS: readonly Transport[] = [
  { format: 'protobuf', compression: 'gzip' },
  { format: 'protobuf', compression: 'none' },
  { format: 'json', compression: 'gzip' },
  { format: 'json', compression: 'none' },
];
const VIEWS = { span: 'spans', log: 'logs', metric: 'metric_points' } as const;

/** Both sinks' rows of one service and signal. */
async function stored({ query, rows }: PostgresDaemon, signal: keyof typeof VIEWS, service: string) {
  return {
    postgres: await query(`SELECT * FROM public.${VIEWS[signal]} WHERE service_name = $1`, [service]),
    file: (await rows()).filter((row) => row['signal'] === signal && row['service_name'] === service),
  };
}

/** Sinks keep no order; records are told apart by these fields together. */
const identityOf = (row: Readonly<Record<string, unknown>>): string =>
  JSON.stringify([row['span_id'], row['name'], row['event_name'], row['severity_number'], sorted(row['attributes'])]);
const sorted = (value: unknown): unknown => Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
const inOrder = <T extends Readonly<Record<string, unknown>>>(rows: readonly T[]): T[] =>
  [...rows].sort((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));

async function compare(t: Test, signal: keyof typeof VIEWS, service: string, recorded: readonly ExpectedRow[]) {
  const expected = inOrder(recorded);
  for (const [sink, rows] of Object.entries(await stored(daemon, signal, service))) {
    t.equal(rows.length, expected.length, `${sink} holds every ${signal} once`);
    for (const [at, row] of inOrder(rows).entries()) {
      const wanted = expected[at] ?? {};
      t.strictSame(comparable(row, wanted), wanted, `${sink}: ${String(wanted['name'] ?? wanted['body'] ?? signal)}`);
    }
  }
}

for (const transport of TRANSPORTS) {
  const service = `${transport.format}-${transport.compression}`;
  t.test(
    `the SDK's telemetry arrives whole as http/${transport.format}, compression ${transport.compression}`,
    async (t) => {
      const { spans, logs, metrics, failures } = await recordTelemetry(daemon.url, KEY, transport, service);
      t.strictSame(failures, [], 'its exporters saw no failure');
      t.equal(spans.length, 3);
      t.equal(logs.length, 3);
      await compare(t, 'span', service, spans.map(expectedSpan));
      await compare(t, 'log', service, logs.map(expectedLog));
      const points = metrics.flatMap(expectedPoints);
      t.equal(points.length, 8);
      await compare(t, 'metric', service, points);
    },
  );
}

t.test('the SDK learns of a refused key', async (t) => {
  const transport: Transport = { format: 'json', compression: 'none' };
  const { failures } = await recordTelemetry(daemon.url, 'not-a-key-at-all-000', transport, 'refused');
  t.equal(failures.length, 3);
  t.match(String(failures[0]), /Unauthorized|401/u);
  t.strictSame((await stored(daemon, 'span', 'refused')).postgres, []);
});
