/** A stop ends connections that were accepted before it: in their TLS handshake, and those that start after it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Host } from '../../../src/component/component.ts';
import type { GrpcCalls } from '../../../src/receivers/otlp/grpc-calls.ts';
import type { GrpcOptions } from '../../../src/receivers/otlp/grpc-options.ts';
import { GrpcServer } from '../../../src/receivers/otlp/grpc-server.ts';
import { TLS_FOLDER } from '../../support/certificates.ts';
import { RawHttp2 } from '../../support/http2-frames.ts';
import { until } from '../../support/worker-scene.ts';

const CONNECTIONS = 6;
const NEVER = new AbortController().signal;
const UNLIMITED = { time: 0, timeout: 0, max_connection_idle: 0, max_connection_age: 0, max_connection_age_grace: 0 };

const OPTIONS = {
  endpoint: '127.0.0.1:0',
  transport: 'tcp',
  max_concurrent_streams: 100,
  max_header_size: 8192,
  max_connections: 100,
  read_timeout: 60_000,
  keepalive: { server_parameters: UNLIMITED, enforcement_policy: { min_time: 0, permit_without_stream: true } },
};
const CALLS = { stop: () => undefined } as unknown as GrpcCalls;
const HOST = {
  workers: 1,
  logger: { debug: () => undefined, info: () => undefined, warn: () => undefined },
  resolvePath: (path: string) => path,
  now: () => Date.now(),
  listeners: { listen: async () => ({ address: '', close: () => undefined }) },
} as unknown as Host;

/** A port that keeps the connections which it accepts. */
async function listen(t: Test): Promise<{ readonly accepted: readonly Socket[]; readonly port: number }> {
  const accepted: Socket[] = [];
  const listening = createServer({ noDelay: true }, (socket) => void accepted.push(socket));
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => void listening.close());
  const { port } = listening.address() as { port: number };
  return { accepted, port };
}

t.test('waiting connections do not hold the stop until its deadline', async (t) => {
  const grpc = new GrpcServer(OPTIONS as unknown as GrpcOptions, HOST, CALLS);
  const { accepted, port } = await listen(t);
  const clients = Array.from({ length: CONNECTIONS }, () => new RawHttp2(`127.0.0.1:${port}`));
  // A stop ends connections of which nothing was read by itself.
  await until(() => accepted.length === CONNECTIONS && accepted.every(({ bytesRead }) => bytesRead > 0));
  for (const connection of accepted) grpc.accept(connection);
  await grpc.stop(NEVER);
  for (const client of clients) await client.closed;
  t.ok(accepted.every(({ destroyed }) => destroyed));
});

t.test('a TLS handshake that has begun does not hold the stop until its deadline', async (t) => {
  const [cert, key] = [join(TLS_FOLDER, 'server.pem'), join(TLS_FOLDER, 'server-key.pem')];
  const tls = { cert_file: cert, key_file: key, min_version: '1.2', cipher_suites: [], reload_interval: 0 };
  const grpc = new GrpcServer({ ...OPTIONS, tls } as unknown as GrpcOptions, HOST, CALLS);
  await grpc.start();
  const { accepted, port } = await listen(t);
  const client = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
  t.teardown(() => void client.destroy());
  await until(() => accepted.length > 0);
  for (const connection of accepted) grpc.accept(connection);
  // The head of a TLS record whose rest never comes.
  client.write(Buffer.from([0x16, 3, 1, 0, 5]));
  await until(() => (accepted[0]?.bytesRead ?? 0) > 0);
  await grpc.stop(NEVER);
  t.ok(accepted[0]?.destroyed);
});
