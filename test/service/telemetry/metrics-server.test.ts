import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import t from 'tap';
import { ListeningSockets } from '../../../src/net/listener.ts';
import { MetricsServer } from '../../../src/service/telemetry/metrics-server.ts';

t.test('the metrics are at /metrics, also for a target in absolute form', async (t) => {
  const server = new MetricsServer('127.0.0.1:0', { print: () => 'sluice_x 1\n' }, new ListeningSockets().forService());
  await server.start();
  t.teardown(() => server.stop());
  const port = server.address?.split(':').at(-1);
  for (const [path, status] of [
    ['/metrics?x', 200],
    ['http://x/metrics', 200],
    ['http://x/other', 404],
    ['/', 404],
  ] as const) {
    const [response] = (await once(request({ port, path }).end(), 'response')) as [IncomingMessage];
    t.equal(response.resume().statusCode, status, path);
  }
  const telemetry = await fetch(`http://127.0.0.1:${port}/v1/traces`, { method: 'POST' });
  t.match(await telemetry.text(), 'Telemetry goes to the receiver otlp', 'a sender with the wrong port');
});
