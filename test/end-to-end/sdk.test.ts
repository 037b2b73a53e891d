/** The official OpenTelemetry SDK as a client: the recorded data equals the rows of both exporters, field by field. */
import t from 'tap';
import { KEY } from '../support/daemon.ts';
import { startPostgresDaemon } from '../support/postgres-daemon.ts';
import { compare, stored } from '../support/sdk-comparison.ts';
import { recordTelemetry, type Transport } from '../support/sdk-recording.ts';
import { expectedLog, expectedPoints, expectedSpan } from '../support/sdk-rows.ts';

t.setTimeout(300_000);

const daemon = await startPostgresDaemon(t, { exporters: 'postgres, file' });

const TRANSPORTS: readonly Transport[] = [
  { format: 'protobuf', compression: 'gzip' },
  { format: 'protobuf', compression: 'none' },
  { format: 'json', compression: 'gzip' },
  { format: 'json', compression: 'none' },
];

for (const transport of TRANSPORTS) {
  const service = `${transport.format}-${transport.compression}`;
  t.test(
    `the SDK's telemetry arrives whole as http/${transport.format}, compression ${transport.compression}`,
    async (t) => {
      const { spans, logs, metrics, failures } = await recordTelemetry(daemon.url, KEY, transport, service);
      t.strictSame(failures, [], 'its exporters saw no failure');
      t.equal(spans.length, 3);
      t.equal(logs.length, 3);
      const whole = { store: daemon, service };
      await compare(t, { ...whole, signal: 'span', recorded: spans.map(expectedSpan) });
      await compare(t, { ...whole, signal: 'log', recorded: logs.map(expectedLog) });
      const points = metrics.flatMap(expectedPoints);
      t.equal(points.length, 8);
      await compare(t, { ...whole, signal: 'metric', recorded: points });
    },
  );
}

t.test('the SDK reports a refused key', async (t) => {
  const transport: Transport = { format: 'json', compression: 'none' };
  const { failures } = await recordTelemetry(daemon.url, 'not-a-key-at-all-000', transport, 'refused');
  t.equal(failures.length, 3);
  t.match(String(failures[0]), /Unauthorized|401/u);
  t.strictSame((await stored(daemon, 'span', 'refused')).postgres, []);
});
