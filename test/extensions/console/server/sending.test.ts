/** Replies on a real connection: errors before and within a stream, and clients that read nothing. */
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import t from 'tap';
import { ConsoleError } from '../../../../src/extensions/console/errors.ts';
import { events, lines, type Reply } from '../../../../src/extensions/console/server/route.ts';
import { send, sendError, sendFile } from '../../../../src/extensions/console/server/sending.ts';

const SHORT_MS = 50;

t.test('replies', async (t) => {
  let reply: Reply = { kind: 'empty' };
  let outcome: Promise<string> = Promise.resolve('');
  const server = createServer((request, response) => {
    const sending = { head: request.method === 'HEAD', readingTimeoutMs: SHORT_MS };
    outcome = send(response, reply, sending).then(
      () => 'sent',
      (error: unknown) => {
        if (response.headersSent) response.destroy();
        else sendError(response, error as ConsoleError, sending);
        return error instanceof Error ? error.message : String(error);
      },
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const get = (next: Reply, method = 'GET') => {
    reply = next;
    return new Promise<{ status: number; type: string; text: string; whole: boolean }>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, agent: false }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          server.emit('read');
        });
        answer.on('error', () => undefined);
        answer.on('close', () => {
          resolve({
            status: answer.statusCode ?? 0,
            type: String(answer.headers['content-type']),
            text,
            whole: answer.complete,
          });
        });
      });
      sent.on('error', reject).end();
    });
  };

  t.test('a stream is sent as it is made', async (t) => {
    t.match(await get(lines(of('1\n', '2\n'))), {
      status: 200,
      type: 'application/x-ndjson',
      text: '1\n2\n',
      whole: true,
    });
    const event = events(of({ event: 'beat', data: '{}' }, { event: 'traces', id: '7', data: '[]' }));
    t.match(await get(event), {
      type: 'text/event-stream',
      text: 'event: beat\ndata: {}\n\nid: 7\nevent: traces\ndata: []\n\n',
    });
    const long = '\u{1f600}'.repeat(100_000);
    t.equal((await get({ kind: 'json', value: long })).text, JSON.stringify(long));
    t.match(await get(lines(of('1\n')), 'HEAD'), { status: 200, text: '' });
  });

  t.test('an error before the first piece is an answer; a later one cuts the body', async (t) => {
    t.match(await get(lines(failing(Promise.resolve()))), { status: 503, text: '{"error":{"code":"busy"' });
    t.match(await get(lines(failing(new Promise((read) => server.once('read', read)), '1\n'))), {
      status: 200,
      text: '1\n',
      whole: false,
    });
  });

  t.test('a download has a harmless name', async (t) => {
    reply = { kind: 'download', name: '../Ev il"\r\n.csv', type: 'text/csv', pieces: of('a') };
    const answer = await fetch(`http://127.0.0.1:${port}/`);
    t.equal(answer.headers.get('content-disposition'), 'attachment; filename="..evil.csv"');
  });

  t.test('S26: the connection of a client that reads nothing is cut, and the source of the stream ends', async (t) => {
    let ended = false;
    async function* endless(): AsyncGenerator<string> {
      try {
        for (;;) yield 'x'.repeat(100_000);
      } finally {
        ended = true;
      }
    }
    reply = lines(endless());
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
    socket.pause();
    await new Promise<void>((resolve) => server.once('request', () => resolve()));
    t.equal(await outcome, 'the client has disconnected');
    t.ok(ended);
    socket.destroy();
  });
});

async function* of<T>(...pieces: readonly T[]): AsyncGenerator<T> {
  yield* pieces;
}

async function* failing(read: Promise<unknown>, ...pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
  await read;
  throw new ConsoleError('busy');
}

t.test('a file that the client has is not sent again, also by a tag that a proxy made weak', async (t) => {
  const file = { type: 'text/html', caching: 'no-cache', etag: '"a"', bodies: new Map([['', Buffer.from('page')]]) };
  const server = createServer(({ headers }, response) => sendFile(response, file, { headers, head: false }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const status = async (tags: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}/`, { headers: { 'if-none-match': tags } })).status;
  for (const tags of ['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', '*']) t.equal(await status(tags), 304, tags);
  for (const tags of ['"b"', 'a', '"a', 'W/"b"']) t.equal(await status(tags), 200, tags);
});
