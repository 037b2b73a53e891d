// Small HTTP servers begin few requests in one iteration of the event loop, however many a client pipelines, and end
// answers whose client has left.
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { ConnectionHandler } from '../../src/component/listening.ts';
import { ConsoleServer } from '../../src/extensions/console/server/console-server.ts';
import { ListeningSockets } from '../../src/net/listener.ts';
import { servePaced } from '../../src/net/paced-server.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
/** A read of a socket gets 64 KiB, which hold more than 2,000 of these requests. */
const COUNT = 4000;
const WAITED_FOR = 300;
/** A piece of 1 KiB holds 37 of them, and further ones wait for the answers. */
const MOST_AT_ONCE = 80;

const SERVERS: readonly (readonly [name: string, serve: (listener: RequestListener) => ConnectionHandler])[] = [
  ['metrics and health check', (serve) => servePaced(serve)],
  ['console', (serve) => new ConsoleServer(async (request, response) => void serve(request, response), 100)],
];

/** Connects to the server and sends the text. */
async function send(t: Test, handler: ConnectionHandler, text: string): Promise<Socket> {
  const request = { endpoint: '127.0.0.1:0', option: 'endpoint' };
  const listener = await new ListeningSockets().forService().listen(request, handler);
  const client = connect(Number(listener.address.split(':').at(-1)), '127.0.0.1');
  client.write(text);
  t.teardown(() => {
    client.destroy();
    listener.close();
  });
  return client;
}

for (const [name, serverOf] of SERVERS) {
  t.test(`${name}: few requests begin at once`, async (t) => {
    let [begun, atOnce, mostAtOnce] = [0, 0, 0];
    const handler = serverOf((_request, response) => {
      if (atOnce === 0) setImmediate(() => (atOnce = 0));
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      begun++;
      response.writeHead(404).end();
    });
    const client = await send(t, handler, REQUEST.repeat(COUNT));
    while (begun < WAITED_FOR) await new Promise((resolve) => client.once('data', resolve));
    t.ok(mostAtOnce <= MOST_AT_ONCE, `${mostAtOnce} at once`);
  });

  t.test(`${name}: nothing behind CONNECT is read`, async (t) => {
    let begun = 0;
    const handler = serverOf(() => begun++);
    const tunnel = `CONNECT x:1 HTTP/1.1\r\nHost: ${'x'.repeat(992)}\r\n\r\n`;
    const client = await send(t, handler, tunnel + REQUEST.repeat(100));
    client.on('error', () => undefined).resume();
    await new Promise((resolve) => client.once('close', resolve));
    t.equal(begun, 0);
  });

  t.test(`${name}: an answer that has no end is closed when its client leaves`, async (t) => {
    const left = new Promise<void>((resolve) => {
      const handler = serverOf((_request, response) => {
        response.once('close', resolve);
        response.writeHead(200).write('first');
      });
      void send(t, handler, REQUEST).then((client) => client.once('data', () => client.end()));
    });
    await t.resolves(left);
  });
}
