// The open loop of `sluice bench`, against a server that answers everything.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { Client } from '../../../src/cli/bench/client.ts';
import { FreshRequests } from '../../../src/cli/bench/requests.ts';
import { makeTraceRequest } from '../../../src/cli/bench/trace-request.ts';

const MILLISECONDS = 300;
const CONNECTIONS = 4;
const MOST_ATTEMPTS = 10;

/** The client of a server that answers each request when `ready` allows it. */
async function clientOf(t: Test, connections = CONNECTIONS, ready = async (): Promise<void> => {}): Promise<Client> {
  const server = createServer(
    (request, response) => void request.resume().on('end', () => void ready().then(() => response.end())),
  );
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const client = new Client(`http://127.0.0.1:${port}`, 'key', { connections });
  t.teardown(async () => {
    await client.close();
    server.close();
  });
  return client;
}

const requests = (): FreshRequests => {
  const shape = { spans: 1, kind: 'small-spans', environment: 'bench', nowMs: Date.now() };
  return new FreshRequests([makeTraceRequest(shape, 'seed')], 'identity');
};

t.test('a rate has the requests that it has in the time, and lasts for the time', async (t) => {
  const client = await clientOf(t);
  for (const isEven of [true, false]) {
    const bodies = requests();
    const started = performance.now();
    const load = client.atRate(bodies, { perSecond: 40, milliseconds: MILLISECONDS, isEven });
    const begun = performance.now();
    const outcomes = await load;
    t.equal(outcomes.length, 12);
    t.ok(performance.now() - started >= MILLISECONDS);
    t.ok(outcomes.every(({ due }) => due >= started && due <= begun + MILLISECONDS));
  }
  const slow = await client.atRate(requests(), { perSecond: 1, milliseconds: MILLISECONDS });
  t.equal(slow.length, 1, 'one request at least');
});

t.test('a slow generator does not end the load early', async (t) => {
  const client = await clientOf(t);
  const bodies = requests();
  const slow = {
    contentEncoding: bodies.contentEncoding,
    next: () => {
      const started = performance.now();
      while (performance.now() - started < MILLISECONDS / 4);
      return bodies.next();
    },
    done: (body: Buffer) => bodies.done(body),
  };
  const started = performance.now();
  await client.atRate(slow, { perSecond: 1, milliseconds: MILLISECONDS, isEven: true });
  t.ok(performance.now() - started >= MILLISECONDS);
});

t.test('a rate beyond all capacity ends, and fills no memory', async (t) => {
  const client = await clientOf(t);
  const outcomes = await client.atRate(requests(), { perSecond: 1e12, milliseconds: MILLISECONDS });
  t.ok(outcomes.length < 50_000, `${outcomes.length} requests`);
  t.ok(outcomes.some(({ status }) => status === -1));
});

t.test('a request that waits when the load ends is sent if a connection is free soon after', async (t) => {
  // The server answers 5 ms after the end. The time for the rest is 15 ms, which a busy machine can exceed.
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const ending = performance.now() + MILLISECONDS + 5;
    const client = await clientOf(t, 1, () => pause(Math.max(0, ending - performance.now())));
    const outcomes = await client.atRate(requests(), { perSecond: 10, milliseconds: MILLISECONDS, isEven: true });
    t.equal(outcomes.length, 3);
    if (outcomes.every(({ status }) => status === 200)) return;
  }
  t.fail('a waiting request was never sent');
});

t.test('a signal ends it between two requests', async (t) => {
  const client = await clientOf(t);
  const stopping = new AbortController();
  const rate = { perSecond: 1, milliseconds: 3_600_000, signal: stopping.signal };
  const load = client.atRate(requests(), rate);
  stopping.abort();
  t.ok((await load).length <= 1);
});
