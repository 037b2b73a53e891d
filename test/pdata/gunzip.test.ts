// The gzip format around the inflater: headers, checksums, members, and the bytes behind them. gunzipSync is the
// oracle.
import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync, gunzipSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import { gunzip } from '../../src/pdata/gunzip.ts';
import { loadWire } from '../../src/pdata/load-wasm.ts';
import { finish } from '../../src/pdata/steps.ts';
import { GzipCampaign } from '../campaigns/mutation/gzip-campaign.ts';
import { gzipByZlib, InflateJudge } from '../support/inflate-judge.ts';

const CONTENT = Buffer.from('{"resourceSpans":[]}'.repeat(20));
const MIB = 1024 * 1024;
/** An expansion in steps may pause after so many bytes. */
const PAUSE_BYTES = 16384;
const judge = new InflateJudge();

/** A member with the optional parts of its flags. */
function member(flags: number, parts: readonly Buffer[], { method = 8, sum = true } = {}): Buffer {
  const header = Buffer.concat([Buffer.from([0x1f, 0x8b, method, flags, 1, 2, 3, 4, 2, 3]), ...parts]);
  const headerSum = crc32(header) & 0xffff;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(CONTENT));
  trailer.writeUInt32LE(CONTENT.length, 4);
  const check = (flags & 2) === 0 ? [] : [Buffer.from([headerSum & 255, (headerSum >> 8) ^ (sum ? 0 : 1)])];
  return Buffer.concat([header, ...check, deflateRawSync(CONTENT), trailer]);
}

function changed(body: Buffer, at: number): Buffer {
  const copy = Buffer.from(body);
  copy[at < 0 ? copy.length + at : at] = (copy.at(at) ?? 0) ^ 1;
  return copy;
}

t.test('frames are accepted and refused as by gunzipSync', async (t) => {
  const plain = gzipSync(CONTENT);
  const extra = Buffer.from([3, 0, 1, 0, 2]);
  const [name, comment] = [Buffer.from('body.pb\0'), Buffer.from('a comment\0')];
  const cases: readonly [string, Buffer, boolean][] = [
    ['a plain member', plain, true],
    ['nothing inside', gzipSync(''), true],
    ['every optional part', member(31, [extra, name, comment]), true],
    ['an empty extra field', member(4, [Buffer.from([0, 0])]), true],
    ['a header checksum', member(2, []), true],
    ['a wrong header checksum', member(2, [], { sum: false }), false],
    ['a wrong header checksum over every part', member(31, [extra, name, comment], { sum: false }), false],
    ['an unknown method', member(0, [], { method: 7 }), false],
    ['reserved flag 32', member(32, []), false],
    ['reserved flag 64', member(64, []), false],
    ['reserved flag 128', member(128, []), false],
    ['an extra field past the end', Buffer.from([0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 3, 255, 255, 1]), false],
    [
      'a name without an end',
      Buffer.concat([Buffer.from([0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 3]), Buffer.from('name')]),
      false,
    ],
    ['no gzip', CONTENT, false],
    ['one byte', Buffer.from([0x1f]), false],
    ['a wrong checksum', changed(plain, -5), false],
    ['a wrong length', changed(plain, -1), false],
    ['two members', Buffer.concat([plain, gzipSync('more')]), true],
    ['two members, the second damaged', Buffer.concat([plain, changed(gzipSync('more'), -5)]), false],
    ['two members, the second cut short', Buffer.concat([plain, gzipSync('more').subarray(0, 12)]), false],
    ['zeros behind it', Buffer.concat([plain, Buffer.alloc(700)]), true],
    ['a zero behind it, then any bytes', Buffer.concat([plain, Buffer.from('\0anything')]), false],
    ['a zero behind it, then one byte', Buffer.concat([plain, Buffer.from([0, 1])]), false],
    ['a zero behind it, then a member', Buffer.concat([plain, Buffer.from([0]), gzipSync('more')]), false],
    ['one zero behind it', Buffer.concat([plain, Buffer.from([0])]), true],
    ['any bytes behind it', Buffer.concat([plain, Buffer.from('anything')]), false],
    ['one byte behind it', Buffer.concat([plain, Buffer.from([1])]), false],
    ['half a magic number behind it', Buffer.concat([plain, Buffer.from([0x1f])]), false],
  ];
  for (const [name, body, isSound] of cases) {
    t.equal(judge.gzipDifference(body), '', name);
    t.equal(judge.gzip(body).bytes !== null, isSound, name);
    t.equal(gzipByZlib(body).bytes !== null, isSound, `${name}, by zlib`);
  }
  for (let length = 0; length < plain.length; length++)
    if (judge.gzip(plain.subarray(0, length)).bytes !== null) t.fail(`${length} bytes sufficed`);
});

t.test('a distance cannot reach into the previous member', async (t) => {
  // A fixed block: length 3, distance 1, end. Its own member has no bytes before it.
  const reaching = Buffer.concat([gzipSync('x').subarray(0, 10), Buffer.from([0x03, 0x02, 0x00]), Buffer.alloc(8)]);
  const both = Buffer.concat([gzipSync('secret'), reaching]);
  t.equal(judge.gzipDifference(both), '');
  t.equal(judge.gzip(both).refusal, 'decompression_failed');
});

t.test('bytes are counted while they expand, over all members together', async (t) => {
  const half = gzipSync(Buffer.alloc(MIB / 2));
  t.equal(judge.gzip(Buffer.concat([half, half]), MIB).bytes?.length, MIB);
  t.equal(judge.gzip(Buffer.concat([half, half]), MIB - 1).refusal, 'body_too_large');
  t.equal(judge.gzip(Buffer.concat([half, half, gzipSync('x')]), MIB).refusal, 'body_too_large');
  t.equal(judge.gzip(gzipSync(Buffer.alloc(64 * MIB)), 16 * MIB).refusal, 'body_too_large', 'a bomb');
  t.equal(judge.gzip(Buffer.alloc(17 * MIB), 16 * MIB).refusal, 'body_too_large', 'more than fits');
});

t.test('a large body is expanded in steps, with the same result', async (t) => {
  const wire = loadWire(1n, { pauses: true, stepMs: 0 });
  const text = Buffer.from(Array.from({ length: 200_000 }, (_, index) => `${index} ${(index * 7919) % 1009}`).join());
  const cases: readonly [string, Buffer, number][] = [
    ['spaces', gzipSync(Buffer.alloc(15 * MIB, 0x20)), 900],
    ['a text', gzipSync(text), text.length / PAUSE_BYTES - 1],
    ['noise', gzipSync(randomBytes(3 * MIB), { level: 0 }), 40],
    ['many members', Buffer.concat(Array.from({ length: 10_000 }, () => gzipSync('x'))), 10_000 / 256],
  ];
  for (const [name, body, fewest] of cases) {
    const steps = gunzip(wire, body, 16 * MIB);
    let count = 0;
    let step = steps.next();
    for (; step.done !== true; count++) step = steps.next();
    t.ok(count >= fewest, `${name}: ${count} steps`);
    t.equal(Buffer.compare(Buffer.from(step.value), gunzipSync(body)), 0, name);
  }
  const damaged = gzipSync(text);
  damaged.fill(0xff, 300_000, 300_100);
  t.throws(() => finish(gunzip(wire, damaged, 16 * MIB)), { code: 'decompression_failed' });
  t.same(finish(gunzip(wire, gzipSync('after a fault'), MIB)), Buffer.from('after a fault'));
});

t.test('the log of a refusal has the offset of the fault', async (t) => {
  const wire = loadWire(1n);
  const causeOf = (body: Buffer): unknown => {
    try {
      finish(gunzip(wire, body, MIB));
    } catch (error) {
      return error instanceof Rejection ? error.details.cause : error;
    }
    return undefined;
  };
  const plain = gzipSync(CONTENT);
  t.equal(causeOf(plain.subarray(0, 15)), 'unexpected end at byte 15');
  t.equal(causeOf(Buffer.from('x'.repeat(30))), 'no gzip member at byte 0');
  t.equal(causeOf(changed(plain, -5)), `checksum at byte ${plain.length - 8}`);
});

t.test('damaged bodies have the same result as with zlib', async (t) => {
  const { accepted, refused, kept } = new GzipCampaign({ count: 1500, seed: 20260102 }).run();
  t.strictSame(kept, []);
  t.ok(accepted > 75, `${accepted} were accepted`);
  t.ok(refused > 75, `${refused} were refused`);
});
