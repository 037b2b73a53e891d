import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { ConnectionHandler } from '../../src/component/listening.ts';
import { ListeningSockets } from '../../src/net/listener.ts';
import { UserError } from '../../src/errors.ts';

const ENDPOINT = '127.0.0.1:0';
const OPTION = 'receivers.otlp.protocols.http.endpoint';

/** Sends its name to each client, and closes the connection. */
class Greeter implements ConnectionHandler {
  readonly followers: (ConnectionHandler | null)[] = [];
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  accept(connection: Socket): void {
    connection.end(this.#name);
  }

  succeededBy(next: ConnectionHandler | null): void {
    this.followers.push(next);
  }
}

async function greeting(address: string): Promise<string> {
  const socket = connect(Number(address.split(':').at(-1)), '127.0.0.1');
  let heard = '';
  socket.on('data', (data) => (heard += data.toString()));
  socket.on('error', (error: NodeJS.ErrnoException) => (heard = error.code ?? 'error'));
  await new Promise((resolve) => socket.on('close', resolve));
  return heard;
}

t.test('a later service takes over the socket, and the earlier one does not close it', async (t) => {
  const sockets = new ListeningSockets();
  const [old, young] = [new Greeter('old'), new Greeter('young')];
  const first = await sockets.forService().listen({ endpoint: ENDPOINT, option: OPTION }, old);
  t.equal(await greeting(first.address), 'old');
  const second = await sockets.forService().listen({ endpoint: ENDPOINT, option: OPTION }, young);
  t.equal(second.address, first.address);
  t.same(old.followers, [young]);
  t.equal(await greeting(first.address), 'young');
  first.close();
  first.close();
  t.equal(await greeting(first.address), 'young');
  t.equal(sockets.boundAddress({ endpoint: ENDPOINT, option: OPTION }), first.address);
  t.equal(sockets.boundAddress({ endpoint: ENDPOINT, option: 'another' }), null);
  second.close();
  t.equal(sockets.boundAddress({ endpoint: ENDPOINT, option: OPTION }), null);
  t.equal(await greeting(first.address), 'ECONNREFUSED');
});

t.test('a successor that gives up returns the socket to its predecessor', async (t) => {
  const sockets = new ListeningSockets();
  const old = new Greeter('old');
  const first = await sockets.forService().listen({ endpoint: ENDPOINT, option: OPTION }, old);
  const second = await sockets.forService().listen({ endpoint: ENDPOINT, option: OPTION }, new Greeter('young'));
  second.close();
  t.equal(await greeting(first.address), 'old');
  t.equal(old.followers.at(-1), null);
  first.close();
});

t.test(
  'the limits of the current handler apply: those of a successor, and the earlier ones when it gives up',
  async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-listener-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const path = join(folder, 'socket');
    const sockets = new ListeningSockets();
    const listen = (socketMode: number, handler: ConnectionHandler) =>
      sockets.forService().listen({ endpoint: `unix:${path}`, option: OPTION, socketMode }, handler);
    const mode = async (): Promise<number> => (await stat(path)).mode & 0o777;
    const first = await listen(0o660, new Greeter('old'));
    t.equal(await mode(), 0o660);
    const second = await listen(0o600, new Greeter('young'));
    t.equal(await mode(), 0o600);
    second.close();
    t.equal(await mode(), 0o660);
    first.close();
  },
);

t.test('the length of the path of a socket is counted in bytes', async (t) => {
  const path = `/tmp/${'é'.repeat(60)}`;
  const listening = new ListeningSockets()
    .forService()
    .listen({ endpoint: `unix:${path}`, option: OPTION }, new Greeter('never'));
  await t.rejects(listening, { message: /is too long/u, hint: /103 bytes/u });
});

t.test('a closed socket can be opened again', async (t) => {
  const sockets = new ListeningSockets();
  const first = await sockets.forService().listen({ endpoint: ENDPOINT, option: OPTION }, new Greeter('first'));
  const endpoint = first.address;
  first.close();
  const again = await sockets.forService().listen({ endpoint, option: OPTION }, new Greeter('again'));
  t.equal(await greeting(endpoint), 'again');
  again.close();
});

t.test('an endpoint that one service asks for twice, or that another program uses, is an error', async (t) => {
  const listeners = new ListeningSockets().forService();
  const first = await listeners.listen({ endpoint: ENDPOINT, option: OPTION }, new Greeter('first'));
  const twice = listeners.listen({ endpoint: ENDPOINT, option: OPTION }, new Greeter('second'));
  await t.rejects(twice, {
    message: /by another part of this configuration/u,
    hint: /^Set receivers\.otlp\S* to another address/u,
  });
  first.close();
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  t.teardown(() => void blocker.close());
  const address = blocker.address();
  const endpoint = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const taken = await listeners.listen({ endpoint, option: OPTION }, new Greeter('x')).catch((error: unknown) => error);
  t.ok(taken instanceof UserError);
  t.match(taken, { message: `${endpoint} is already in use`, hint: /receivers\.otlp/u });
  const [, example = ''] = /--set (\S+)\.$/u.exec((taken as UserError).hint ?? '') ?? [];
  if (example !== '') t.match(example, /^receivers\.otlp\S+=127\.0\.0\.1:\d+$/u);
  else t.ok(Number(endpoint.split(':')[1]) > 65_525, 'the example is left out where there is no such port');
  const elsewhere = listeners.listen({ endpoint: '192.0.2.1:0', option: OPTION }, new Greeter('x'));
  await t.rejects(elsewhere, { message: '192.0.2.1:0 is not an address of this machine' });
});

t.test('a reset does not end the process, also when the protocol has no error listener', async (t) => {
  let close = (_byError: boolean): void => undefined;
  const closed = new Promise<boolean>((resolve) => (close = resolve));
  const accept = (connection: Socket): void => void connection.resume().once('close', close);
  const listener = await new ListeningSockets().forService().listen({ endpoint: ENDPOINT, option: OPTION }, { accept });
  t.teardown(() => listener.close());
  const client = connect(Number(listener.address.split(':').at(-1)), '127.0.0.1', () => client.resetAndDestroy());
  t.equal(await closed, true, 'closed by an error');
});
