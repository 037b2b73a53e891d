// Hostile and broken clients on the socket.
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { until } from '../../support/worker-scene.ts';

/** Everything the server sends until it closes the connection. */
function converse(port: number, say: (socket: Socket) => void): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => say(socket));
    let heard = '';
    socket.on('data', (data) => (heard += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });
}

const HEAD = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;

t.test('an early refusal is answered and the connection closed, even when the client continues to send', async (t) => {
  const daemon = await startDaemon(t);
  const heard = await converse(daemon.port, (socket) => {
    socket.write(
      `POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 104857600\r\n\r\n`,
    );
    const pump = (): void => {
      while (socket.writable && socket.write(Buffer.alloc(65536))) {}
    };
    socket.on('drain', pump);
    pump();
  });
  t.match(heard, /^HTTP\/1\.1 401 /);
  t.match(heard, /Connection: close/i);
});

t.test('a declared length over the limit is refused before the body is read', async (t) => {
  const daemon = await startDaemon(t);
  const heard = await converse(daemon.port, (socket) => socket.write(`${HEAD}Content-Length: 4194305\r\n\r\n`));
  t.match(heard, /^HTTP\/1\.1 413 /);
});

t.test('Expect: 100-continue is answered with 100 only when the body will be read', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const accepted = await converse(daemon.port, (socket) => {
    socket.write(`${HEAD}Expect: 100-continue\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.once('data', () => socket.write(body));
  });
  t.match(accepted, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
  const refused = await converse(daemon.port, (socket) => {
    socket.write(
      `${HEAD.replace(KEY, 'wrong-key-0123456789')}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
  });
  t.match(refused, /^HTTP\/1\.1 401 /);
  const old = await converse(daemon.port, (socket) => {
    socket.write(`${HEAD.replace('1.1', '1.0')}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  });
  t.match(old, /^HTTP\/1\.1 200 /, 'not to a client of HTTP/1.0');
});

t.test('a body that ends early stores nothing, and the daemon continues', async (t) => {
  const daemon = await startDaemon(t);
  const heard = await converse(daemon.port, (socket) => {
    socket.write(`${HEAD}Content-Length: 1000\r\n\r\n{"resourceSpans"`, () => socket.end());
  });
  t.match(heard, /^(HTTP\/1\.1 400 .*)?$/s);
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])) })).status, 200);
  t.equal((await daemon.rows()).length, 1);
});

t.test('a client that has finished sending gets the answers of all its requests', async (t) => {
  const daemon = await startDaemon(t);
  const request = (): string => {
    const body = JSON.stringify(aTraceRequest([aSpan()]));
    return `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
  };
  const heard = await converse(daemon.port, (socket) => socket.end(request() + request()));
  t.equal(heard.match(/HTTP\/1\.1 200 /g)?.length, 2);
  t.equal((await daemon.rows()).length, 2);
});

t.test('a body that arrives too slowly is refused', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", read_timeout: 200ms'),
  });
  const heard = await converse(daemon.port, (socket) => socket.write(`${HEAD}Content-Length: 1000\r\n\r\n{`));
  t.match(heard, /^HTTP\/1\.1 400 /);
  t.match(heard, /could not be read/);
});

t.test('bytes that are not HTTP after a valid request do not change its answer', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const heard = await converse(daemon.port, (socket) =>
    socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n${body}not HTTP at all\r\n\r\n`),
  );
  t.match(heard, /^HTTP\/1\.1 200 /);
  t.notMatch(heard, /400/);
  t.equal((await daemon.rows()).length, 1);
});

t.test('a body with invalid chunks is refused in the encoding of the request', async (t) => {
  const daemon = await startDaemon(t);
  const head = HEAD.replace('application/json', 'application/x-protobuf');
  const heard = await converse(daemon.port, (socket) =>
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nnot a length\r\n\r\n`),
  );
  t.match(heard, /^HTTP\/1\.1 400 .*Content-Type: application\/x-protobuf\r\n.*could not be read/s);
  t.equal(heard.match(/HTTP\/1\.1/g)?.length, 1);
});

t.test('an invalid body behind a valid request gets its answer too', async (t) => {
  const daemon = await startDaemon(t);
  const head = HEAD.replace('application/json', 'application/x-protobuf');
  for (const [name, torn] of [
    ['invalid chunks', `${head}Transfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nnot a length\r\n\r\n`],
    ['an early end', `${head}Content-Length: 10\r\n\r\nabcd`],
  ] as const) {
    const body = JSON.stringify(aTraceRequest([aSpan()]));
    const whole = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
    const heard = await converse(daemon.port, (socket) => socket.end(whole + torn));
    t.match(heard, /^HTTP\/1\.1 200 .*HTTP\/1\.1 400 .*Connection: close\r\n.*could not be read/s, name);
    t.equal(heard.match(/HTTP\/1\.1/g)?.length, 2, name);
  }
  t.equal((await daemon.rows()).length, 2);
});

t.test('headers have a time limit', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", read_header_timeout: 200ms'),
  });
  const heard = await converse(daemon.port, (socket) => socket.write('POST /v1/traces HTTP/1.1\r\nHost: x\r\n'));
  t.match(heard, /^HTTP\/1\.1 408 /);
});

t.test('bytes that are not HTTP, and headers that are too large, get an answer and a closed socket', async (t) => {
  const daemon = await startDaemon(t);
  t.match(
    await converse(daemon.port, (socket) => socket.write('\x16\x03\x01\x02\x00hello\r\n\r\n')),
    /^HTTP\/1\.1 400 /,
  );
  t.match(
    await converse(daemon.port, (socket) =>
      socket.write(`GET /health HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20000)}\r\n\r\n`),
    ),
    /^HTTP\/1\.1 431 /,
  );
  t.match(
    await converse(daemon.port, (socket) =>
      socket.write(`${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    ),
    /^HTTP\/1\.1 400 /,
    'two lengths are request smuggling',
  );
});

t.test('a body without a certain length is refused as invalid_body before it begins, and is counted', async (t) => {
  const daemon = await startDaemon(t);
  for (const framing of [
    'Content-Length: 5\r\nContent-Length: 5',
    'Content-Length: +5',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding: chunked, identity',
  ]) {
    const heard = await converse(daemon.port, (socket) => socket.write(`${HEAD}${framing}\r\n\r\n`));
    t.match(heard, /^HTTP\/1\.1 400 .*\{"message":"The request body could not be read\."\}$/s, framing);
  }
  t.match(daemon.registry.print(), 'sluice_refusals{signal="none",code="invalid_body"} 4\n');
  const [line] = daemon.log.filter(({ message }) => message === 'request refused');
  t.match(line?.fields, { code: 'invalid_body', status: 400, details: { cause: 'HPE_UNEXPECTED_CONTENT_LENGTH' } });
});

t.test('an unknown method and a tunnel are not found, and are counted and logged', async (t) => {
  const daemon = await startDaemon(t);
  for (const line of ['FETCH /v1/traces', 'post /v1/traces', 'DESCRIBE /v1/traces', 'CONNECT x:1']) {
    const heard = await converse(daemon.port, (socket) => socket.write(`${line} HTTP/1.1\r\nHost: x\r\n\r\n`));
    t.match(heard, /^HTTP\/1\.1 404 .*Content-Type: application\/json\r\n.*\{"message":"Route not found"\}$/s, line);
  }
  t.match(daemon.registry.print(), 'sluice_refusals{signal="none",code="not_found"} 4\n');
  t.equal(daemon.log.filter(({ message }) => message === 'request refused').length, 4);
});

t.test('bytes in flight are limited: a request without room gets 503 with Retry-After', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", max_in_flight_size: 1MiB'),
  });
  const answer = await send(daemon.url, { body: 'x'.repeat(2 * 1024 * 1024) });
  t.equal(answer.status, 503);
  t.equal(answer.headers['retry-after'], '1');
  t.match(daemon.registry.print(), /sluice_bytes_in_flight 0\n/, 'nothing stays reserved');
});

t.test('a client that is refused under load stays connected when its body is short', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", max_in_flight_size: 1MiB'),
  });
  const hold = async (): Promise<Socket> => {
    const holder = connect(daemon.port, '127.0.0.1');
    t.teardown(() => holder.destroy());
    holder.on('error', () => undefined).write(`${HEAD}Content-Length: 850000\r\n\r\n${' '.repeat(849_999)}`);
    await until(() => Number(/sluice_bytes_in_flight (\d+)\n/.exec(daemon.registry.print())?.[1]) >= 850_000);
    return holder;
  };
  const holder = await hold();

  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const head = (length: number, extra = ''): string => `${HEAD}${extra}Content-Length: ${length}\r\n\r\n`;
  const short = 256 * 1024;
  const stays = await converse(daemon.port, (socket) => {
    socket.write(head(short) + ' '.repeat(short));
    // The server closes the connection after the second answer, so the first one left it open.
    socket.once('data', () => holder.destroy());
    void until(() => /sluice_bytes_in_flight 0\n/.test(daemon.registry.print())).then(() =>
      socket.write(head(body.length, 'Connection: close\r\n') + body),
    );
  });
  t.same(
    [...stays.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
    ['503', '200'],
  );

  await hold();
  const refused = /HTTP\/1\.1 503 .*Connection: close/s;
  const much = ' '.repeat(short - 1);
  const long = await converse(daemon.port, (socket) => socket.write(head(short + 1) + much));
  t.match(long, refused, 'a longer body is not read');
  const chunks = `Transfer-Encoding: chunked\r\n\r\n${short.toString(16)}\r\n${much}`;
  t.match(await converse(daemon.port, (socket) => socket.write(HEAD + chunks)), refused, 'nor one of unknown length');
  const expect = head(short, 'Expect: 100-continue\r\n');
  const asking = await converse(daemon.port, (socket) => {
    socket.write(expect);
    socket.once('data', () => socket.write(much));
  });
  t.match(asking, refused, 'nor one with Expect: 100-continue');
  const slow = await converse(daemon.port, (socket) => socket.write(head(short) + much));
  t.match(slow, refused, 'and a short one has a time limit');
});

t.test('one connection serves many requests, including refusals of complete bodies', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const one = (text: string): string => `${HEAD}Content-Length: ${text.length}\r\n\r\n${text}`;
  const last = one(body).replace('Host: x', 'Host: x\r\nConnection: close');
  const heard = await converse(daemon.port, (socket) => socket.write(one(body) + one('{') + last));
  t.same(
    [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => match[1]),
    ['200', '400', '200'],
  );
});

t.test('during a stop new requests get 503, and requests in flight are answered', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  let stopped: Promise<void> = Promise.resolve();
  const heard = await converse(daemon.port, (socket) => {
    socket.write(`${HEAD}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body.slice(0, 10)}`);
    const admitted = setInterval(() => {
      if (!/sluice_requests_in_flight 1\n/.test(daemon.registry.print())) return;
      clearInterval(admitted);
      stopped = daemon.stop();
      socket.write(body.slice(10));
    }, 5);
  });
  t.match(heard, /^HTTP\/1\.1 200 /);
  await stopped;
  t.equal((await daemon.rows()).length, 1);
});

t.test('requests that have arrived before a stop are answered, also when they were not read yet', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const request = `${HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
  const clients = Array.from({ length: 100 }, () => {
    const client = { socket: connect(daemon.port, '127.0.0.1'), heard: '', isClosed: false };
    client.socket.on('data', (data) => (client.heard += data.toString()));
    client.socket.on('error', () => undefined);
    client.socket.on('close', () => (client.isClosed = true));
    client.socket.write(request);
    return client;
  });
  const answers = (): readonly string[][] =>
    clients.map(({ heard }) => [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map((match) => String(match[1])));
  await until(() => answers().every(({ length }) => length === 1));
  for (const { socket } of clients) socket.write(request);
  await daemon.stop();
  await until(() => clients.every(({ isClosed }) => isClosed));
  t.same(new Set(answers().map((each) => each.join(' '))), new Set(['200 503']));
  t.ok(clients.every(({ heard }) => /Connection: close/iu.test(heard)));
});

t.test('each refusal is one log line with its code and one count, without the key', async (t) => {
  const daemon = await startDaemon(t);
  await send(daemon.url, { body: '{' });
  await send(daemon.url, { authorization: 'Bearer secret-of-a-sender', body: '{}' });
  const refusals = daemon.log.filter(({ message }) => message === 'request refused');
  t.same(
    refusals.map(({ fields }) => fields['code']),
    ['invalid_json', 'invalid_api_key'],
  );
  t.match(daemon.registry.print(), /sluice_refusals\{signal="traces",code="invalid_json"\} 1/);
  t.notMatch(JSON.stringify(daemon.log) + daemon.registry.print(), /secret-of-a-sender/);
});

t.test('the Sunset header is sent once a removal date is set', async (t) => {
  const plain = await startDaemon(t);
  t.equal((await send(plain.url, { body: '{' })).headers['sunset'], undefined);
  const dated = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", sunset: "2027-05-01"'),
  });
  t.equal((await send(dated.url, { body: '{' })).headers['sunset'], 'Sat, 01 May 2027 00:00:00 GMT');
});

t.test('declared bodies that do not arrive reserve no bytes', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", max_in_flight_size: 64MiB'),
  });
  for (let index = 0; index < 133; index++) {
    const socket = connect(daemon.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    const length = index < 63 ? 4_194_304 : 65_536;
    socket.on('error', () => undefined).write(`${HEAD}Content-Length: ${length}\r\n\r\n{`);
  }
  await until(() => /sluice_requests_in_flight 133\n/.test(daemon.registry.print()));
  const held = (): number => Number(/sluice_bytes_in_flight (\d+)\n/.exec(daemon.registry.print())?.[1]);
  await until(() => held() >= 133 * 16_384);
  t.equal(held(), 133 * 16_384, 'only received bytes count');
  for (const key of [OTHER_KEY, KEY]) {
    const body = JSON.stringify(aTraceRequest([aSpan()]));
    t.equal((await send(daemon.url, { authorization: `Bearer ${key}`, body })).status, 200);
  }
});

t.test('a project with its full share does not use the shares of others', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", max_in_flight_size: 16MiB'),
  });
  const held = (): number => Number(/sluice_bytes_in_flight (\d+)\n/.exec(daemon.registry.print())?.[1]);
  let refused = 0;
  for (let index = 0; index < 12; index++) {
    const socket = connect(daemon.port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    socket.on('error', () => undefined).on('data', () => refused++);
    socket.write(`${HEAD}Content-Length: 4194304\r\n\r\n${' '.repeat(2_000_000)}`);
  }
  await until(() => refused > 0 && held() > 8_000_000);
  const body = JSON.stringify(aTraceRequest([aSpan()])) + ' '.repeat(200_000);
  t.equal((await send(daemon.url, { authorization: `Bearer ${OTHER_KEY}`, body })).status, 200);
});

t.test('a trickling body is refused after the grace time, a slow one is not', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()])).padEnd(16_000);
  const slow = converse(daemon.port, (socket) => {
    socket.write(`${HEAD}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    let sent = 0;
    const timer = setInterval(() => {
      socket.write(body.slice(sent, sent + 1000));
      sent += 1000;
      if (sent >= body.length) clearInterval(timer);
    }, 450);
    socket.on('close', () => clearInterval(timer));
  });
  const trickle = await converse(daemon.port, (socket) => {
    socket.write(`${HEAD}Content-Length: ${body.length}\r\n\r\n`);
    const timer = setInterval(() => socket.write(' '), 200);
    socket.on('close', () => clearInterval(timer));
  });
  t.match(trickle, /^HTTP\/1\.1 400 .*could not be read/s);
  t.match(await slow, /^HTTP\/1\.1 200 /, 'more than 7 seconds for 16 KB');
});

t.test('pipelined requests are all answered, a few in each iteration of the event loop', async (t) => {
  const daemon = await startDaemon(t);
  const requests = 200;
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  const heard = await converse(daemon.port, (socket) => {
    turn();
    const one = 'GET /health HTTP/1.1\r\nHost: x\r\n';
    socket.write(`${`${one}\r\n`.repeat(requests - 1)}${one}Connection: close\r\n\r\n`);
  });
  isOver = true;
  t.equal(heard.match(/HTTP\/1\.1 200/g)?.length, requests);
  t.ok(turns > requests / 64, `${turns} turns`);
});

t.test('clients that pipeline requests and never read answers do not block new clients', async (t) => {
  const daemon = await startDaemon(t);
  const many = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20_000);
  for (let index = 0; index < 8; index++) {
    const socket = connect(daemon.port, '127.0.0.1', () => socket.write(many));
    socket.on('error', () => undefined);
    if (index % 2 === 0) socket.on('data', () => undefined).on('drain', () => socket.write(many));
    t.teardown(() => socket.destroy());
  }
  for (let index = 0; index < 10; index++)
    t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])) })).status, 200);
});
