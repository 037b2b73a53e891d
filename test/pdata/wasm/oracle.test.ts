/**
 * The module against the oracle: every generated request, in both encodings and any spelling, becomes the rows of the
 * plain rules; and each broken rule is refused as its class.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { ENCODING_JSON, ENCODING_PROTOBUF, SIGNAL_LOGS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { JsonWriter } from '../../support/generators-json.ts';
import { ProtobufWriter } from '../../support/generators-protobuf.ts';
import { Random } from '../../support/generators-random.ts';
import { requests } from '../../support/generators.ts';
import { compareLines } from '../../support/oracle-comparison.ts';
import { COMMON, ModuleRun } from '../../support/oracle-module.ts';
import { RULES, type Rule } from '../../support/oracle-refusal.ts';
import { Oracle } from '../../support/oracle.ts';
import {
  decodeProtobuf,
  ENCODING_NAMES,
  encodeProtobuf,
  loadProtos,
  type Message,
  type Signal,
  SIGNAL_NAMES,
  SIGNALS,
} from '../../support/protos.ts';

const RUNS = 100;
/** Shrinking a failure ends after this time; a passing run takes a second or two. */
const MAX_MILLISECONDS = 15_000;
const protos = loadProtos();
const oracle = new Oracle(protos);
const module = new ModuleRun();
const seeds = fc.integer();

/** Bytes of a message in an encoding, spelled by a seed. */
function spell(signal: Signal, encoding: number, message: Message, seed: number): Buffer {
  const type = protos.requests[signal];
  const random = new Random(seed);
  if (encoding === ENCODING_JSON) return Buffer.from(new JsonWriter(random).write(type, message));
  return new ProtobufWriter(random).write(type, message);
}

/** The fault of the module's output for a body that must be accepted; null when there is none. */
function fault(signal: Signal, encoding: number, body: Buffer, message: Message): string | null {
  const outcome = module.index(signal, encoding, body);
  if (!outcome.accepted) return `refused with ${outcome.code}`;
  return compareLines(oracle.rows(signal, message, COMMON), module.encodeNdjson());
}

t.test('the strict reader of the oracle agrees with protobufjs', async (t) => {
  for (const signal of SIGNALS) {
    fc.assert(
      fc.property(requests(signal), seeds, (message, seed) => {
        const type = protos.requests[signal];
        for (const body of [encodeProtobuf(type, message), spell(signal, ENCODING_PROTOBUF, message, seed)]) {
          const verdict = oracle.judge(signal, ENCODING_PROTOBUF, body);
          if (!verdict.accepted) throw new Error(verdict.reason);
          const left = oracle.rows(signal, verdict.message);
          const right = oracle.rows(signal, decodeProtobuf(type, body));
          if (!isDeepStrictEqual(left, right)) throw new Error('the two readers differ');
        }
      }),
      { numRuns: 60, interruptAfterTimeLimit: MAX_MILLISECONDS },
    );
  }
  t.pass();
});

for (const signal of SIGNALS) {
  for (const encoding of [ENCODING_PROTOBUF, ENCODING_JSON]) {
    t.test(`${SIGNAL_NAMES[signal]} in ${ENCODING_NAMES[encoding]} become the rows of the oracle`, async (t) => {
      fc.assert(
        fc.property(requests(signal), seeds, (message, seed) => {
          const found = fault(signal, encoding, spell(signal, encoding, message, seed), message);
          if (found !== null) throw new Error(found);
        }),
        { numRuns: RUNS, interruptAfterTimeLimit: MAX_MILLISECONDS },
      );
      t.pass();
    });
  }
}

const SPAN = { traceId: '0102030405060708090a0b0c0d0e0f10', spanId: '0102030405060708', startTimeUnixNano: '1' };

function traceJson(span: unknown): string {
  return JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
}

/** `depth` values, one inside the other. */
function nested(depth: number): Message {
  let value: Message = { stringValue: 'x' };
  for (let level = 1; level < depth; level += 1) {
    value = level % 2 === 0 ? { arrayValue: { values: [value] } } : { kvlistValue: { values: [{ key: 'k', value }] } };
  }
  return value;
}

function logOf(body: Message): Message {
  return { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body }] }] }] };
}

t.test('values may nest to the limit and not beyond, in both encodings', async (t) => {
  for (const limit of [5, 32, 100]) {
    module.maxDepth = limit;
    const strict = new Oracle(protos, limit);
    for (const depth of [limit - 1, limit, limit + 1]) {
      for (const encoding of [ENCODING_PROTOBUF, ENCODING_JSON]) {
        const message = logOf(nested(depth));
        const body = spell(SIGNAL_LOGS, encoding, message, 1);
        const verdict = strict.judge(SIGNAL_LOGS, encoding, body);
        const outcome = module.index(SIGNAL_LOGS, encoding, body);
        const name = `${depth} levels of at most ${limit}, ${ENCODING_NAMES[encoding]}`;
        t.equal(verdict.accepted, depth <= limit, `the oracle: ${name}`);
        t.equal(outcome.accepted, depth <= limit, name);
        if (outcome.accepted)
          t.equal(compareLines(oracle.rows(SIGNAL_LOGS, message, COMMON), module.encodeNdjson()), null, name);
        else t.equal(outcome.code, RULES.payload, name);
      }
    }
  }
  module.maxDepth = 32;
});

const REFUSED_JSON: readonly (readonly [string, Rule, string])[] = [
  ['an empty body', 'json', ''],
  ['a list at the top', 'json', '[]'],
  ['bytes after the value', 'json', '{} {}'],
  ['a byte order mark', 'json', '\ufeff{}'],
  ['a trailing comma', 'json', '{"resourceSpans":[],}'],
  ['a number with a leading zero', 'json', '{"a":03}'],
  ['a raw control character in a string', 'json', '{"a":"\n"}'],
  ['a broken escape', 'json', '{"a":"\\u12g4"}'],
  ['an escape whose last digit is none', 'json', '{"a":"\\u123g"}'],
  ['a repeated key', 'payload', '{"resourceSpans":[],"resourceSpans":[]}'],
  ['a repeated key inside an unknown object', 'payload', '{"x":[{"a":1,"a":2}]}'],
  ['a repeated key spelled with an escape', 'payload', '{"x":{"k":1,"\\u006b":2}}'],
  ['a repeated key of empty text', 'payload', '{"x":{"":1,"":2}}'],
  ['a snake_case field', 'payload', '{"resource_spans":[]}'],
  ['a snake_case field spelled with an escape', 'payload', '{"resource\\u005fspans":[]}'],
  ['a list where an object belongs', 'json', '{"resourceSpans":[{"resource":[]}]}'],
  ['an object where a list belongs', 'json', '{"resourceSpans":{}}'],
  ['a number where text belongs', 'json', traceJson({ ...SPAN, name: 5 })],
  ['an enum by name', 'json', traceJson({ ...SPAN, kind: 'SPAN_KIND_SERVER' })],
  [
    'two members of a value',
    'json',
    traceJson({ ...SPAN, attributes: [{ key: 'k', value: { stringValue: '', intValue: 1 } }] }),
  ],
  [
    'an integer that overflows',
    'json',
    traceJson({ ...SPAN, attributes: [{ key: 'k', value: { intValue: '9223372036854775808' } }] }),
  ],
  ['an integer with a fraction', 'json', traceJson({ ...SPAN, attributes: [{ key: 'k', value: { intValue: 1.5 } }] })],
  ['a count beyond 32 bits', 'json', traceJson({ ...SPAN, droppedLinksCount: 4294967296 })],
  [
    'a double beyond all doubles',
    'json',
    traceJson({ ...SPAN, attributes: [] }).replace('[]', '[{"key":"k","value":{"doubleValue":1e999}}]'),
  ],
  ['bytes that are not base64', 'json', traceJson({ ...SPAN, attributes: [{ key: 'k', value: { bytesValue: '*' } }] })],
  ['a trace id that is too short', 'id', traceJson({ ...SPAN, traceId: '01' })],
  ['a trace id of zeros', 'id', traceJson({ ...SPAN, traceId: '0'.repeat(32) })],
  ['a trace id that is not hex', 'id', traceJson({ ...SPAN, traceId: 'x'.repeat(32) })],
  ['no span id', 'id', traceJson({ ...SPAN, spanId: undefined })],
  ['a parent of zeros', 'id', traceJson({ ...SPAN, parentSpanId: '0'.repeat(16) })],
  ['a link with half an id', 'id', traceJson({ ...SPAN, links: [{ spanId: '0102' }] })],
  ['a time beyond 63 bits', 'payload', traceJson({ ...SPAN, endTimeUnixNano: '9223372036854775808' })],
  ['a negative time', 'payload', traceJson({ ...SPAN, endTimeUnixNano: '-1' })],
  ['a time with a fraction', 'payload', traceJson({ ...SPAN, endTimeUnixNano: 1.5 })],
  ['a time with an exponent', 'payload', traceJson({ ...SPAN, endTimeUnixNano: '1e3' })],
  ['entity references that are no list', 'json', '{"resourceSpans":[{"resource":{"entityRefs":{}}}]}'],
  ['an entity reference that is null', 'json', '{"resourceSpans":[{"resource":{"entityRefs":[null]}}]}'],
  ['an entity key that is no text', 'json', '{"resourceSpans":[{"resource":{"entityRefs":[{"idKeys":[1]}]}}]}'],
  ['entity references in snake_case', 'payload', '{"resourceSpans":[{"resource":{"entity_refs":[]}}]}'],
  ['a span without a start', 'payload', traceJson({ ...SPAN, startTimeUnixNano: 0 })],
];

t.test('a JSON body that breaks one rule is refused by its class', async (t) => {
  for (const [name, rule, text] of REFUSED_JSON) {
    const body = Buffer.from(text);
    const verdict = oracle.judge(SIGNAL_TRACES, ENCODING_JSON, body);
    t.match(verdict, { accepted: false, rule }, `the oracle: ${name}`);
    t.strictSame(module.index(SIGNAL_TRACES, ENCODING_JSON, body), { accepted: false, code: RULES[rule] }, name);
  }
});

/** Only JSON can contain lone surrogates. */
t.test('lone surrogates and U+0000 are stored as U+FFFD', async (t) => {
  const text = traceJson({ ...SPAN, name: 'NAME', attributes: [{ key: 'KEY', value: { stringValue: 'NAME' } }] })
    .replaceAll('NAME', 'a\\ud800b\\udc00\\u0000\\ud83d\\ude00')
    .replace('KEY', '\\udfff');
  const body = Buffer.from(text);
  const verdict = oracle.judge(SIGNAL_TRACES, ENCODING_JSON, body);
  if (!verdict.accepted) throw new Error(verdict.reason);
  t.equal(fault(SIGNAL_TRACES, ENCODING_JSON, body, verdict.message), null);
  t.match(module.encodeNdjson(), '"a\ufffdb\ufffd\ufffd\u{1f600}"');
});

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const REFUSED_PROTOBUF: readonly (readonly [string, Rule, Buffer])[] = [
  ['a truncated tag', 'protobuf', hex('80')],
  ['a length past the end', 'protobuf', hex('0a 05 00')],
  ['a length near 2^64', 'protobuf', hex('0a 0d 0a 84ffffffffffffffff01 1a 00')],
  ['a length that points backwards, to valid fields', 'protobuf', hex('9a06 03 9a060c 9a06 f1ffffffffffffffff01')],
  ['a known field of the wrong wire type', 'protobuf', hex('08 01')],
  ['field number 0', 'protobuf', hex('02 00')],
  ['wire type 7', 'protobuf', hex('7f')],
  ['a group that does not end', 'protobuf', hex('9b06')],
  ['a group that ends as another', 'protobuf', hex('9b06 a406')],
  ['an end of group alone', 'protobuf', hex('9c06')],
  ['a varint of eleven bytes', 'protobuf', hex('9806 ffffffffffffffffffff01')],
  ['a varint beyond 64 bits', 'protobuf', hex('9806 ffffffffffffffffff02')],
  ['a schema URL that is not UTF-8', 'protobuf', hex('0a 03 1a 01 ff')],
  ['a scope version of surrogates', 'protobuf', hex('0a 09 12 07 0a 05 12 03 eda080')],
  ['a span without ids', 'id', hex('0a 04 12 02 12 00')],
];

t.test('a protobuf body that breaks one rule is refused by its class', async (t) => {
  for (const [name, rule, body] of REFUSED_PROTOBUF) {
    const verdict = oracle.judge(SIGNAL_TRACES, ENCODING_PROTOBUF, body);
    t.match(verdict, { accepted: false, rule }, `the oracle: ${name}`);
    t.strictSame(module.index(SIGNAL_TRACES, ENCODING_PROTOBUF, body), { accepted: false, code: RULES[rule] }, name);
  }
});

t.test('empty requests are accepted and hold no records', async (t) => {
  for (const signal of SIGNALS) {
    t.strictSame(module.index(signal, ENCODING_PROTOBUF, Buffer.alloc(0)), { accepted: true, records: 0 });
    t.strictSame(module.index(signal, ENCODING_JSON, Buffer.from(' {} ')), { accepted: true, records: 0 });
  }
});
