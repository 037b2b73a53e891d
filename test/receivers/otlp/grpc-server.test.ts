/** A stop ends the sessions of connections that were accepted before it and start after it. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import t from 'tap';
import type { Host } from '../../../src/component/component.ts';
import type { GrpcCalls } from '../../../src/receivers/otlp/grpc-calls.ts';
import type { GrpcOptions } from '../../../src/receivers/otlp/grpc-options.ts';
import { GrpcServer } from '../../../src/receivers/otlp/grpc-server.ts';
import { RawHttp2 } from '../../support/http2-frames.ts';
import { until } from '../../support/worker-scene.ts';

const CONNECTIONS = 6;
const NEVER = new AbortController().signal;
const UNLIMITED = { time: 0, timeout: 0, max_connection_idle: 0, max_connection_age: 0, max_connection_age_grace: 0 };

t.test('waiting connections do not hold the stop until its deadline', async (t) => {
  const options = {
    max_concurrent_streams: 100,
    max_header_size: 8192,
    max_connections: 100,
    read_timeout: 60_000,
    keepalive: { server_parameters: UNLIMITED, enforcement_policy: { min_time: 0, permit_without_stream: true } },
  } as unknown as GrpcOptions;
  const host = { workers: 1, logger: { debug: () => undefined, info: () => undefined } } as unknown as Host;
  const grpc = new GrpcServer(options, host, { stop: () => undefined } as unknown as GrpcCalls);

  const accepted: Socket[] = [];
  const listening = createServer({ noDelay: true }, (socket) => void accepted.push(socket));
  await once(listening.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => void listening.close());
  const { port } = listening.address() as { port: number };
  const clients = Array.from({ length: CONNECTIONS }, () => new RawHttp2(`127.0.0.1:${port}`));
  // A stop ends connections of which nothing was read by itself.
  await until(() => accepted.length === CONNECTIONS && accepted.every(({ bytesRead }) => bytesRead > 0));
  for (const connection of accepted) grpc.accept(connection);
  await grpc.stop(NEVER);
  for (const client of clients) await client.closed;
  t.ok(accepted.every(({ destroyed }) => destroyed));
});
