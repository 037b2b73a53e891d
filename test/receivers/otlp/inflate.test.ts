// Compressed bodies over a real socket: expanded in the pass or in the thread pool, with the same outcome.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { ByteBudget, type Reservation } from '../../../src/receivers/otlp/byte-budget.ts';
import { prepareBody } from '../../../src/receivers/otlp/inflate.ts';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { gzip, send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const MIB = 1024 * 1024;
const GZIP = { 'content-type': 'application/json', 'content-encoding': 'gzip' };

/** A request of one span, about so long, that gzip makes small or not. */
function aBody(length: number, isNoise = false): string {
  const text = isNoise ? randomBytes(length / 2).toString('hex') : 'x'.repeat(length);
  return JSON.stringify(aTraceRequest([aSpan({ attributes: { text } })]));
}

function cutInTwo(body: string): Buffer {
  const half = body.length >> 1;
  return Buffer.concat([gzip(body.slice(0, half)), gzip(body.slice(half))]);
}

t.test('the stored rows do not depend on where a body was expanded', async (t) => {
  const daemon = await startDaemon(t);
  const bodies: readonly [string, Buffer][] = [
    ['small', gzip(aBody(100))],
    ['the largest that the pass expands', gzip(aBody(MIB - 1000))],
    ['the smallest that it does not', gzip(aBody(MIB))],
    ['long when compressed', gzip(aBody(MIB - 1000, true))],
    ['two members', cutInTwo(aBody(3000))],
    ['two members, longer than the trailer of the last one tells', cutInTwo(aBody(MIB * 1.5))],
    ['zeros behind it', Buffer.concat([gzip(aBody(200)), Buffer.alloc(30)])],
  ];
  for (const [name, body] of bodies) {
    const answer = await send(daemon.url, { body, headers: GZIP });
    t.equal(answer.status, 200, name);
  }
  t.equal((await daemon.rows()).length, bodies.length);
});

t.test('a body that does not expand is refused, and the next one is accepted', async (t) => {
  const daemon = await startDaemon(t);
  for (const body of [gzip(aBody(100)), gzip(aBody(2 * MIB))]) {
    const damaged = Buffer.from(body);
    damaged[damaged.length - 6] = (damaged.at(-6) ?? 0) ^ 1;
    const answer = await send(daemon.url, { body: damaged, headers: GZIP });
    t.equal(answer.status, 400);
    t.match(answer.body.toString(), 'The request body is not valid gzip.');
    t.equal((await send(daemon.url, { body, headers: GZIP })).status, 200);
  }
  t.equal((await daemon.rows()).length, 2);
});

t.test('a trailer with a smaller length than the body has no advantage', async (t) => {
  const daemon = await startDaemon(t);
  const bomb = Buffer.concat([gzip(Buffer.alloc(17 * MIB)), gzip('x')]);
  t.equal((await send(daemon.url, { body: bomb, headers: GZIP })).status, 413);
});

t.test('expanded bytes count as bytes in flight', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", max_in_flight_size: 1MiB'),
  });
  for (const body of [gzip(aBody(MIB - 1000)), gzip(aBody(2 * MIB))]) {
    const answer = await send(daemon.url, { body, headers: GZIP });
    t.equal(answer.status, 503);
  }
  t.equal((await send(daemon.url, { body: gzip(aBody(100_000)), headers: GZIP })).status, 200);
  t.match(daemon.registry.print(), /sluice_bytes_in_flight 0\n/, 'nothing stays reserved');
});

t.test('the length in the trailer is reserved before the expansion, and the excess is released', async (t) => {
  const budget = new ByteBudget(20 * MIB);
  const prepare = (raw: Buffer): { reservation: Reservation; prepared: ReturnType<typeof prepareBody> } => {
    const reservation = budget.open('project');
    const reserve = (bytes: number): void => reservation.expand(bytes);
    const grow = (size: number, kept: number): Buffer => reservation.expanded.grow(size, kept);
    return {
      reservation,
      prepared: prepareBody(raw, 'gzip', { limitBytes: 16 * MIB, reserve, grow, inTurn: (work) => work() }),
    };
  };
  const large = gzip(Buffer.alloc(12 * MIB));
  const first = prepare(large);
  t.ok(budget.reservedBytes >= 12 * MIB, 'during the expansion');
  await t.rejects(prepare(large).prepared, { code: 'overloaded' });
  t.equal((await first.prepared).body.length, 12 * MIB);
  t.equal(budget.reservedBytes, 12 * MIB);
  first.reservation.close();

  const lie = gzip(randomBytes(300_000));
  lie.writeUInt32LE(16 * MIB, lie.length - 4);
  const liar = prepare(lie);
  t.equal(budget.reservedBytes, 16 * MIB);
  await t.rejects(liar.prepared, { code: 'decompression_failed' });
  liar.reservation.close();
  const two = prepare(Buffer.concat([gzip(Buffer.alloc(3 * MIB)), gzip(Buffer.alloc(2 * MIB))]));
  t.equal((await two.prepared).body.length, 5 * MIB);
  t.ok(budget.reservedBytes >= 5 * MIB, 'the trailer has the length of the last member only');
  t.ok(budget.reservedBytes <= 10 * MIB);
  two.reservation.close();
  t.equal(budget.reservedBytes, 0);
});
