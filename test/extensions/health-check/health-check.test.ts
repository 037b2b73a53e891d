import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { Capabilities } from '../../../src/component/capabilities/capability.ts';
import type { Host } from '../../../src/component/component.ts';
import { SERVICE_STATUS } from '../../../src/component/extension.ts';
import { ListeningSockets } from '../../../src/net/listener.ts';
import { UserError } from '../../../src/errors.ts';
import { healthCheck } from '../../../src/extensions/health-check/health-check.ts';

const metric = { add: () => undefined, record: () => undefined };

function scene(problems: readonly string[] | null) {
  const ports: number[] = [];
  const capabilities = new Capabilities();
  const state = { problems: problems ?? [] };
  if (problems !== null) {
    capabilities.offer(SERVICE_STATUS, { ready: () => state.problems.length === 0, problems: () => state.problems });
  }
  const note = (fields: object): void => {
    if ('endpoint' in fields) ports.push(Number(String(fields.endpoint).split(':').at(-1)));
  };
  const host: Host = {
    id: 'health_check',
    logger: { debug: note, info: note, warn: note, error: note },
    meter: { counter: () => metric, histogram: () => metric, gauge: () => undefined },
    capabilities,
    listeners: new ListeningSockets().forService(),
    workers: 1,
    now: () => 0,
    process: { pid: 1, env: {}, kill: () => false },
    resolvePath: (path) => path,
    fatal: () => undefined,
  };
  return { host, ports, state };
}

const never = AbortSignal.any([]);

t.test('ready is 200, not ready is 503 with the reasons', async (t) => {
  const { host, ports, state } = scene([]);
  const extension = healthCheck.create({ endpoint: '127.0.0.1:0', path: '/' }, host);
  await extension.start?.();
  t.teardown(() => extension.stop?.(never));
  const url = `http://127.0.0.1:${ports[0]}`;

  const ready = await fetch(url);
  t.equal(ready.status, 200);
  t.same(await ready.json(), { status: 'ready' });

  state.problems = ['exporter postgres is not healthy'];
  const broken = await fetch(`${url}/?verbose`);
  t.equal(broken.status, 503);
  t.equal(broken.headers.get('content-type'), 'application/json');
  t.same(await broken.json(), { status: 'not_ready', problems: ['exporter postgres is not healthy'] });

  const other = await fetch(`${url}/v1/traces`, { method: 'POST' });
  t.equal(other.status, 404);
  t.match(await other.text(), /is at \/\S*\. Telemetry goes to the receiver otlp/u, 'a sender with the wrong port');
  const absolute = request({ port: ports[0], path: 'http://health.example/' }).end();
  const [proxied] = (await once(absolute, 'response')) as [IncomingMessage];
  t.equal(proxied.resume().statusCode, 503, 'a target in absolute form');
  t.equal((await fetch(url, { method: 'POST' })).status, 405);
  t.equal((await fetch(url, { method: 'HEAD' })).status, 503);
});

t.test('another path can be chosen, and an unknown state is not ready', async (t) => {
  const { host, ports } = scene(null);
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'));
  const address = hasIpv6 ? '[::1]' : '127.0.0.1';
  const extension = healthCheck.create({ endpoint: `${address}:0`, path: '/readyz' }, host);
  await extension.start?.();
  t.teardown(() => extension.stop?.(never));
  t.equal((await fetch(`http://${address}:${ports[0]}/readyz`)).status, 503);
});

t.test('clients that stay connected do not shut out a probe', async (t) => {
  const { host, ports } = scene([]);
  const extension = healthCheck.create({ endpoint: '127.0.0.1:0', path: '/' }, host);
  await extension.start?.();
  const silent = Array.from({ length: 150 }, () =>
    connect(ports[0] as number, '127.0.0.1').on('error', () => undefined),
  );
  t.teardown(() => {
    for (const socket of silent) socket.destroy();
    return extension.stop?.(never);
  });
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  const answer = await fetch(`http://127.0.0.1:${ports[0]}`).catch(() => null);
  t.equal(answer?.status, 200);
});

t.test('a used address is an error of the configuration, and stopping still works', async (t) => {
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  t.teardown(() => void blocker.close());
  const { port } = blocker.address() as AddressInfo;
  const extension = healthCheck.create({ endpoint: `127.0.0.1:${port}`, path: '/' }, scene([]).host);
  const error = await extension.start?.().catch((caught: unknown) => caught);
  t.ok(error instanceof UserError);
  t.match(error, { message: `127.0.0.1:${port} is already in use`, hint: /extensions\.health_check\.endpoint/u });
  await extension.stop?.(never);
  await extension.stop?.(never);
});
