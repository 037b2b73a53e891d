/** Sockets that are read into one buffer: every byte once and in order, also after pauses and beside other sockets. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createServer as createTlsServer } from 'node:tls';
import t, { type Test } from 'tap';
import { ReadBuffer } from '../../src/net/read-buffer.ts';
import { pem, trust } from '../support/certificates.ts';

const SOCKETS = 8;
const BYTES = 1_000_000;

/** What arrives on a socket, and how. A part of each third read is put back for later. */
class Collected {
  readonly seen: Buffer[] = [];
  reads = 0;
  events = 0;

  constructor(socket: Socket, buffer: ReadBuffer) {
    const take = (bytes: Buffer): void => {
      const isDivided = this.seen.length % 3 === 1 && bytes.length > 1;
      const size = isDivided ? bytes.length >> 1 : bytes.length;
      this.seen.push(Buffer.from(bytes.subarray(0, size)));
      if (!isDivided) return;
      socket.pause();
      socket.unshift(Buffer.from(bytes.subarray(size)));
      setImmediate(() => socket.resume());
    };
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => {
      this.events++;
      take(bytes);
    });
    buffer.adopt(socket, (bytes) => {
      this.reads++;
      take(bytes);
    });
  }

  get text(): string {
    return Buffer.concat(this.seen).toString('base64');
  }
}

/** Sends random bytes on several sockets at once and compares what arrives. */
async function compare(t: Test, server: Server, event: string, open: (port: number) => Socket): Promise<void> {
  const buffer = new ReadBuffer();
  const accepted: Collected[] = [];
  server.on(event, (socket: Socket) => accepted.push(new Collected(socket, buffer)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const sent = Array.from({ length: SOCKETS }, () => randomBytes(BYTES));
  const send = async (bytes: Buffer): Promise<void> => {
    const socket = open((server.address() as AddressInfo).port);
    socket.resume().end(bytes);
    await once(socket, 'close');
  };
  await Promise.all(sent.map(send));
  const expected = new Set(sent.map((bytes) => bytes.toString('base64')));
  t.same(accepted.length, SOCKETS);
  t.ok(accepted.every(({ text }) => expected.delete(text)));
  for (const { reads, events } of accepted) t.ok(reads > 0, `${reads} reads and ${events} events`);
}

t.test('TCP connections deliver every byte once and in order', (t) =>
  compare(t, createServer({ allowHalfOpen: true }), 'connection', (port) => connect(port, '127.0.0.1')),
);

t.test('TLS connections deliver every byte once and in order', (t) =>
  compare(t, createTlsServer({ cert: pem('server'), key: pem('server-key') }), 'secureConnection', (port) =>
    connectTls({ port, host: '127.0.0.1', servername: 'localhost', ...trust() }),
  ),
);
