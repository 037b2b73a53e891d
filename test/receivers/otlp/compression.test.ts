// Compressed bodies over a real socket: expanded in arenas of each size, with the same outcome.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { compressionOf } from '../../../src/receivers/otlp/compression.ts';
import { startDaemon } from '../../support/daemon.ts';
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

t.test('the stored rows do not depend on the arena in which a body was expanded', async (t) => {
  const daemon = await startDaemon(t);
  const bodies: readonly [string, Buffer][] = [
    ['small', gzip(aBody(100))],
    ['the largest of the middle size', gzip(aBody(MIB - 1000))],
    ['the smallest of the largest size', gzip(aBody(MIB))],
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

t.test('the expanded size of a body is estimated from its trailer', async (t) => {
  const limitBytes = 16 * MIB;
  const expected = (raw: Buffer): number | undefined => compressionOf(raw, 'gzip', limitBytes)?.expectedBytes;
  t.equal(expected(gzip(Buffer.alloc(12 * MIB))), 12 * MIB);
  const lie = gzip('x');
  lie.writeUInt32LE(0xffffffff, lie.length - 4);
  t.ok((expected(lie) ?? limitBytes) < 64 * 1024, 'not more than DEFLATE can expand to');
  lie.writeUInt32LE(0, lie.length - 4);
  t.equal(expected(lie), 4 * lie.length, 'not less than a part of the time that it takes');
  t.equal(expected(gzip(randomBytes(5 * MIB))), limitBytes);
  t.equal(expected(Buffer.from([1])), 4);
  t.equal(compressionOf(Buffer.alloc(limitBytes), 'identity', limitBytes), null);
  t.throws(() => compressionOf(Buffer.alloc(limitBytes + 1), 'identity', limitBytes), { code: 'body_too_large' });
});
