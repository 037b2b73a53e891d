/**
 * Forwarded requests against the oracle: for every request, in either encoding, protobufjs reads the same records from
 * the request that is encoded from the tables.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { ENCODING_JSON, ENCODING_PROTOBUF, SIGNAL_LOGS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { JsonWriter } from '../../support/generators-json.ts';
import { ProtobufWriter } from '../../support/generators-protobuf.ts';
import { Random } from '../../support/generators-random.ts';
import { requests } from '../../support/generators.ts';
import { isLong } from '../../support/long.ts';
import { compareLines } from '../../support/oracle-comparison.ts';
import { COMMON, ModuleRun } from '../../support/oracle-module.ts';
import { Oracle } from '../../support/oracle.ts';
import {
  decodeProtobuf,
  ENCODING_NAMES,
  loadProtos,
  type Message,
  type Signal,
  SIGNAL_NAMES,
  SIGNALS,
} from '../../support/protos.ts';

const RUNS = isLong ? 50 : 15;
const MAX_MILLISECONDS = 15_000;
const protos = loadProtos();
const oracle = new Oracle(protos);
const module = new ModuleRun();

function spell(signal: Signal, encoding: number, message: Message, seed: number): Buffer {
  const type = protos.requests[signal];
  const random = new Random(seed);
  if (encoding === ENCODING_JSON) return Buffer.from(new JsonWriter(random).write(type, message));
  return new ProtobufWriter(random).write(type, message);
}

function forwarded(signal: Signal, encoding: number, body: Buffer): Buffer {
  const outcome = module.index(signal, encoding, body);
  if (!outcome.accepted) throw new Error(`refused with ${outcome.code}`);
  return module.encodeOtlp();
}

for (const signal of SIGNALS) {
  for (const encoding of [ENCODING_PROTOBUF, ENCODING_JSON]) {
    t.test(`${SIGNAL_NAMES[signal]} in ${ENCODING_NAMES[encoding]} are forwarded unchanged`, async (t) => {
      fc.assert(
        fc.property(requests(signal), fc.integer(), (message, seed) => {
          const body = spell(signal, encoding, message, seed);
          const sent = forwarded(signal, encoding, body);
          const came = oracle.judge(signal, encoding, body);
          if (!came.accepted) throw new Error(came.reason);
          const stored = oracle.rows(signal, came.message, COMMON);
          const read = oracle.rows(signal, decodeProtobuf(protos.requests[signal], sent), COMMON);
          if (!isDeepStrictEqual(read, stored)) throw new Error('protobufjs reads other records');
          // Read strictly by the module itself, as the receiver may be another Sluice.
          if (!oracle.judge(signal, ENCODING_PROTOBUF, sent).accepted) throw new Error('the strict reader refuses it');
          module.index(signal, ENCODING_PROTOBUF, sent);
          const found = compareLines(stored, module.encodeNdjson());
          if (found !== null) throw new Error(found);
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: MAX_MILLISECONDS },
      );
      t.pass();
    });
  }
}

const SPAN = { traceId: '0102030405060708090a0b0c0d0e0f10', spanId: '0102030405060708', startTimeUnixNano: '1' };

function traces(attributes: unknown): Buffer {
  return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...SPAN, attributes }] }] }] }));
}

t.test('of equal keys in a nested map only the last is forwarded', async (t) => {
  const entry = (key: string, text: string) => ({ key, value: { stringValue: text } });
  for (const many of [1, 40]) {
    const fillers = Array.from({ length: many }, (_, i) => entry(`filler ${i}`, 'x'.repeat(i * 7)));
    const values = [entry('k', 'first'), ...fillers, entry('k', 'second'), entry('k', 'last')];
    const json = traces([{ key: 'map', value: { kvlistValue: { values } } }]);
    const message = decodeProtobuf(
      protos.requests[SIGNAL_TRACES],
      // protobufjs keeps every entry, so this is the same map with all its duplicates.
      encodeTwins(values),
    );
    const protobuf = spell(SIGNAL_TRACES, ENCODING_PROTOBUF, message, 1);
    for (const sent of [
      forwarded(SIGNAL_TRACES, ENCODING_JSON, json),
      forwarded(SIGNAL_TRACES, ENCODING_PROTOBUF, protobuf),
    ]) {
      t.notOk(sent.includes('first'), 'the superseded attribute is not sent');
      t.notOk(sent.includes('second'), 'nor is the one after it');
      t.ok(sent.includes('last'));
      t.equal(module.index(SIGNAL_TRACES, ENCODING_PROTOBUF, sent).accepted, true);
    }
  }
});

t.test('the order of key and value in an entry does not change which entries are superseded', async (t) => {
  const entries = fc.array(
    fc.record({
      name: fc.constantFrom('"', 'k', '', 'name', '\n'),
      isKeyFirst: fc.boolean(),
      value: fc.constantFrom(
        '{}',
        '{"bytesValue":""}',
        '{"stringValue":"k"}',
        '{"boolValue":true}',
        `{"stringValue":"${'x'.repeat(200)}"}`,
      ),
    }),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(entries, (list) => {
      const texts = list.map(({ name, isKeyFirst, value }) => {
        const key = `"key":${JSON.stringify(name)}`;
        return isKeyFirst ? `{${key},"value":${value}}` : `{"value":${value},${key}}`;
      });
      const json = traces([{ key: 'map', value: { kvlistValue: { values: JSON.parse(`[${texts}]`) } } }]);
      const sent = decodeProtobuf(protos.requests[SIGNAL_TRACES], forwarded(SIGNAL_TRACES, ENCODING_JSON, json));
      const came = oracle.judge(SIGNAL_TRACES, ENCODING_JSON, json);
      if (!came.accepted) throw new Error(came.reason);
      const stored = oracle.rows(SIGNAL_TRACES, came.message, COMMON);
      if (!isDeepStrictEqual(oracle.rows(SIGNAL_TRACES, sent, COMMON), stored))
        throw new Error('other entries are sent');
      const found = compareLines(stored, module.encodeNdjson());
      if (found !== null) throw new Error(found);
    }),
    { numRuns: 300 },
  );
  t.pass();
});

function encodeTwins(values: readonly unknown[]): Uint8Array {
  const type = protos.requests[SIGNAL_TRACES];
  const span = {
    traceId: Buffer.from(SPAN.traceId, 'hex'),
    spanId: Buffer.from(SPAN.spanId, 'hex'),
    startTimeUnixNano: 1,
    attributes: [{ key: 'map', value: { kvlistValue: { values } } }],
  };
  return type.encode(type.fromObject({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })).finish();
}

t.test('unknown fields are not forwarded', async (t) => {
  const unknown = Buffer.from('fa3f0568656c6c6f', 'hex'); // field 1023, "hello"
  const inner = Buffer.concat([Buffer.from('0a03616263', 'hex'), unknown]);
  const array = Buffer.concat([Buffer.from([0x0a, inner.length]), inner, unknown]);
  const value = Buffer.concat([Buffer.from([0x2a, array.length]), array]);
  const body = [value, 5, 2, 2, 1].reduce<Buffer>(
    (content, field) =>
      typeof field === 'number' ? Buffer.concat([Buffer.from([(field << 3) | 2, content.length]), content]) : field,
    value,
  );
  const sent = forwarded(SIGNAL_LOGS, ENCODING_PROTOBUF, body);
  t.ok(sent.includes('abc'));
  t.notOk(sent.includes('hello'));
});

t.test('a request of many pieces is one request', async (t) => {
  const spans = Array.from({ length: 4000 }, (_, i) => ({
    ...SPAN,
    spanId: (i + 1).toString(16).padStart(16, '0'),
    name: `span ${i} ${'x'.repeat(900)}`,
  }));
  const json = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
  const sent = forwarded(SIGNAL_TRACES, ENCODING_JSON, json);
  const before = oracle.judge(SIGNAL_TRACES, ENCODING_JSON, json);
  if (!before.accepted) throw new Error(before.reason);
  t.ok(sent.length > 3 * 1024 * 1024);
  t.strictSame(
    oracle.rows(SIGNAL_TRACES, decodeProtobuf(protos.requests[SIGNAL_TRACES], sent)),
    oracle.rows(SIGNAL_TRACES, before.message),
  );
});
