/** Bodies that take long in one part of the pass or of the commit. `--kib` is their size, 16,384 when left out. */
import { parseArgs } from 'node:util';

export interface Blocking {
  readonly name: string;
  readonly signal: 'traces' | 'logs' | 'metrics';
  readonly encoding: 'protobuf' | 'json';
  /** `share`: its size as a part of the largest body, for those whose rows or records would be too many. */
  make(share: number): Buffer;
}

const LARGEST_KIB = 16384;
const { values } = parseArgs({ options: { kib: { type: 'string', default: String(LARGEST_KIB) } }, strict: false });
/** The size of the expanded bodies as a part of the largest one. */
const PART = Number(values['kib']) / LARGEST_KIB;
/** The expanded body, without the bytes around the repeated part. */
const ROOM = PART * LARGEST_KIB * 1024 - 2048;
/** A number of parts that fit the largest body, for a body of this size. */
const scaled = (count: number): number => Math.floor(count * PART);
const NO_BYTES = Buffer.alloc(0);

// Protobuf, written by hand: the library needs gigabytes for these.

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value & 127) | 128);
  bytes.push(value);
  return Buffer.from(bytes);
}

function field(number: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

function repeated(part: Buffer, count: number): Buffer {
  const all = Buffer.alloc(part.length * count);
  for (let index = 0; index < count; index++) part.copy(all, index * part.length);
  return all;
}

const ID = Buffer.alloc(16, 7);
const START = Buffer.from([0x39, 1, 2, 3, 4, 5, 6, 7, 8]);
const SPAN_HEAD = Buffer.concat([field(1, ID), field(2, ID.subarray(8)), START]);
const TRUE = Buffer.from([0x10, 1]);

const requestOf = (records: Buffer): Buffer => field(1, field(2, records));
const spanOf = (rest: Buffer): Buffer => field(2, Buffer.concat([SPAN_HEAD, rest]));
const keyValue = (number: number, key: string, value: Buffer): Buffer =>
  field(number, Buffer.concat([field(1, key), field(2, value)]));
const attribute = (key: string, value: Buffer): Buffer => keyValue(9, key, value);
const text = (value: string | Buffer): Buffer => field(1, value);
const fits = (part: Buffer): number => Math.floor(ROOM / part.length);

/** Records that contain an id, each with another one. */
function ofTraces(one: Buffer, share: number): Buffer {
  const count = Math.floor(fits(one) * share);
  const all = repeated(one, count);
  const at = one.indexOf(ID);
  for (let index = 0; index < count; index++)
    all.writeUInt32BE(Math.imul(index, 2_654_435_761) >>> 0, index * one.length + at + 4);
  return requestOf(all);
}

/** Resources with different attributes, in the order of neither their ids nor their numbers. */
function resources(share: number): Buffer {
  const spans = field(2, spanOf(NO_BYTES));
  const each = Array.from({ length: scaled(130_000 * share) }, (_, index) => {
    const resource = field(1, keyValue(1, 'service.name', text(`s ${Math.imul(index, 2_654_435_761) >>> 0}`)));
    return field(1, Buffer.concat([resource, spans]));
  });
  return Buffer.concat(each);
}

function scopes(share: number): Buffer {
  const each = Array.from({ length: scaled(130_000 * share) }, (_, index) => {
    const scope = field(1, field(1, `scope ${Math.imul(index, 2_654_435_761) >>> 0}`));
    return field(2, Buffer.concat([scope, spanOf(NO_BYTES)]));
  });
  return field(1, Buffer.concat(each));
}

function manyKeys(): Buffer {
  const keys = Array.from({ length: scaled(65_000) }, (_, index) => attribute(`key ${'k'.repeat(200)} ${index}`, TRUE));
  return requestOf(spanOf(Buffer.concat(keys)));
}

function nestedMaps(): Buffer {
  const entries = repeated(field(1, Buffer.concat([field(1, 'a'), field(2, TRUE)])), 1500);
  const element = field(1, field(6, entries));
  return requestOf(spanOf(attribute('a', field(5, repeated(element, fits(element))))));
}

function unknownModels(): Buffer {
  const spans: Buffer[] = [];
  for (let bytes = 0, index = 0; bytes < ROOM; index++) {
    const span = spanOf(
      Buffer.concat([
        attribute('gen_ai.operation.name', text('chat')),
        attribute('gen_ai.request.model', text(`model-${index}-${'x'.repeat(8)}`)),
        attribute('gen_ai.usage.input_tokens', Buffer.from([0x18, 100])),
        attribute('gen_ai.usage.output_tokens', Buffer.from([0x18, 10])),
      ]),
    );
    bytes += span.length;
    if (bytes < ROOM) spans.push(span);
  }
  return requestOf(Buffer.concat(spans));
}

/** Names that make a span look like one of many dialects at once. */
const MARKERS = [
  'gen_ai.operation.name',
  'gen_ai.system',
  'llm.request.type',
  'openinference.span.kind',
  'traceloop.span.kind',
  'ai.operationId',
  'langfuse.observation.type',
  'langsmith.span.kind',
  'mlflow.spanType',
  'braintrust.span_attributes',
  'langwatch.span.type',
  'genkit:type',
  'lmnr.span.type',
  'pydantic_ai.all_messages',
  'weave.output',
  'logfire.msg',
  'crewai.task',
  'haystack.component.name',
  'sentry.op',
  'mastra.span.type',
];

function allDialects(): Buffer {
  const span = spanOf(
    Buffer.concat([
      ...MARKERS.map((key) => attribute(key, text('chat'))),
      attribute('gen_ai.request.model', text('gpt-4o')),
      attribute('gen_ai.usage.input_tokens', Buffer.from([0x18, 100])),
    ]),
  );
  return requestOf(repeated(span, fits(span)));
}

function messageEvents(): Buffer {
  const event = field(11, Buffer.concat([field(2, 'gen_ai.user.message'), keyValue(3, 'content', text('hello'))]));
  const head = [attribute('gen_ai.operation.name', text('chat')), attribute('gen_ai.request.model', text('gpt-4o'))];
  return requestOf(spanOf(Buffer.concat([...head, repeated(event, fits(event))])));
}

function histogramBounds(share: number): Buffer {
  const count = scaled(1_000_000 * share);
  const bounds = Buffer.alloc(8 * count);
  for (let index = 0; index < count; index++) bounds.writeDoubleLE(Math.PI * (index + 1) * 1e-200, index * 8);
  const point = Buffer.concat([Buffer.from([0x21, 0, 0, 0, 0, 0, 0, 0, 0]), field(7, bounds)]);
  const histogram = Buffer.concat([field(1, point), Buffer.from([0x10, 1])]);
  return field(1, field(2, field(2, Buffer.concat([field(1, 'a'), field(9, histogram)]))));
}

/** Some bytes shorter than a whole body. */
const repeatedText = (part: string): string => part.repeat(Math.floor((ROOM - 64) / Buffer.byteLength(part)));

function redaction(part: string): Buffer {
  return requestOf(spanOf(attribute('note', text(repeatedText(part)))));
}

/** One text that begins with `begin` and repeats `part`. */
function redactionOfRun(begin: string, part: string): Buffer {
  return requestOf(spanOf(attribute('note', text(begin + repeatedText(part)))));
}

/** The same text as an element of a list. */
function redactionOfElement(part: string): Buffer {
  const element = field(1, text(repeatedText(part)));
  return requestOf(spanOf(attribute('note', field(5, element))));
}

/** Characters of two bytes take longest to decode. */
const longText = (): string => repeatedText('é');

function longResource(key: string): Buffer {
  return field(1, Buffer.concat([field(1, keyValue(1, key, text(longText()))), field(2, spanOf(NO_BYTES))]));
}

function longValue(key: string, value: Buffer): Buffer {
  return requestOf(spanOf(Buffer.concat([attribute('gen_ai.operation.name', text('chat')), attribute(key, value)])));
}

function redactionOfMany(part: string): Buffer {
  const one = attribute('note', text(part));
  return requestOf(spanOf(repeated(one, Math.min(fits(one), 1_000_000))));
}

// JSON.

const inJson = (span: string): Buffer =>
  Buffer.from(
    `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${'07'.repeat(16)}","spanId":"${'07'.repeat(8)}",` +
      `"startTimeUnixNano":"1",${span}}]}]}]}`,
  );
const list = (part: string, count = Math.floor(ROOM / (part.length + 1))): string =>
  `[${`${part},`.repeat(count).slice(0, -1)}]`;
const jsonArray = (part: string): Buffer =>
  inJson(`"attributes":[{"key":"a","value":{"arrayValue":{"values":${list(part)}}}}]`);

const traces = (name: string, make: Blocking['make'], encoding: Blocking['encoding'] = 'protobuf'): Blocking => ({
  name,
  signal: 'traces',
  encoding,
  make,
});

/** Repeated parts of one text. */
const REDACTED_PARTS = [
  'alpha',
  'TCK-12345',
  '\\u0041',
  '\\',
  '%41',
  '\uff21',
  '-----BEGIN PRIVATE KEY----- ',
  '://a:b',
  '+1 2 3',
  'fe80:',
  '1.2.3.',
  'eyJa.',
];
/** Tokens and numbers that do not end. */
const REDACTED_RUNS: readonly (readonly [begin: string, part: string])[] = [
  ['', '4'],
  ['', 'a'],
  ['authorization: ', 'a='],
  ['eyJ', 'a'],
  ['eyJaaaaaaaaaaaa.', 'a'],
  ['eyJaaaaaaaaaaaa.aaaaaaa.', 'a'],
  ['whsec_', 'a+'],
  ['hooks.slack.com/services/', 'a/'],
  ['-----BEGIN PRIVATE KEY-----', 'a'],
  ['alpha', '1'],
];
/** Repeated parts of an element of a list: it is rendered as JSON. */
const REDACTED_ELEMENTS = [
  '"',
  '\\',
  'sk-ant-api03-',
  '"anna@example.org',
  '\u0001@',
  '\\u0041@',
  '4111 1111 1111 1111 ',
];

export const BODIES: readonly Blocking[] = [
  traces('spans of as many traces', (share) => ofTraces(spanOf(NO_BYTES), share)),
  traces('resources of one span each', resources),
  traces('scopes of one span each', scopes),
  traces('model calls of unknown models', unknownModels),
  traces('markers of all dialects', allDialects),
  traces('message events', messageEvents),
  traces('many new keys', manyKeys),
  traces('attributes of one span', () => {
    const one = attribute('a', TRUE);
    return requestOf(spanOf(repeated(one, Math.min(fits(one), 1_000_000))));
  }),
  traces('links', () => {
    const one = field(13, Buffer.concat([field(1, ID), field(2, ID.subarray(8))]));
    return requestOf(spanOf(repeated(one, Math.min(fits(one), 500_000))));
  }),
  traces('events', () => requestOf(spanOf(repeated(field(11, ''), Math.min(Math.floor(ROOM / 2), 500_000))))),
  traces('nested values', () => {
    const one = field(1, TRUE);
    return requestOf(spanOf(attribute('a', field(5, repeated(one, fits(one))))));
  }),
  traces('nested maps', nestedMaps),
  // A message that is given again is merged with the one before it.
  traces('a resource in many parts', (share) => {
    const part = field(1, keyValue(1, 'a', TRUE));
    return field(1, Buffer.concat([repeated(part, scaled(1_000_000 * share)), field(2, spanOf(NO_BYTES))]));
  }),
  traces('an empty resource in many parts', () => {
    const part = field(1, '');
    return field(1, Buffer.concat([repeated(part, fits(part)), field(2, spanOf(NO_BYTES))]));
  }),
  traces('a scope in many parts', (share) => {
    const part = field(1, keyValue(3, 'a', TRUE));
    return field(1, field(2, Buffer.concat([repeated(part, scaled(1_000_000 * share)), spanOf(NO_BYTES)])));
  }),
  traces('a status in many parts', () => {
    const part = field(15, field(2, 'a'));
    return requestOf(spanOf(repeated(part, fits(part))));
  }),
  traces('unknown fields', () => requestOf(spanOf(repeated(Buffer.from([0xa0, 0x06, 1]), Math.floor(ROOM / 3))))),
  traces('text of control characters', (share) =>
    requestOf(spanOf(attribute('a', text(Buffer.alloc(Math.floor(ROOM * share), 1))))),
  ),
  traces('a long service name', () => longResource('service.name')),
  traces('a long environment', () => longResource('deployment.environment.name')),
  traces('a long scope name', () =>
    field(1, field(2, Buffer.concat([field(1, field(1, longText())), spanOf(NO_BYTES)]))),
  ),
  traces('a long provider', () => longValue('gen_ai.provider.name', text(longText()))),
  traces('a long message', () => longValue('gen_ai.input.messages', field(5, field(1, text(repeatedText('"')))))),
  traces('redaction: iban', () => redaction('DE89 3704 ')),
  traces('redaction: us_ssn', () => redaction('123-45-')),
  traces('redaction: email', () => redaction('a@')),
  traces('redaction: emails that are found', () => redaction('anna@example.org ')),
  traces('redaction: api keys', () => redaction('sk-ant-api03-')),
  traces('redaction: numbers', () => redaction('4111 1111 1111 1111 ')),
  ...REDACTED_PARTS.map((part) => traces(`redaction: ${JSON.stringify(part)}`, () => redaction(part))),
  ...REDACTED_RUNS.map(([begin, part]) =>
    traces(`redaction: a run after ${JSON.stringify(begin)} of ${part}`, () => redactionOfRun(begin, part)),
  ),
  ...REDACTED_ELEMENTS.map((part) =>
    traces(`redaction: element of ${JSON.stringify(part)}`, () => redactionOfElement(part)),
  ),
  traces('redaction: many short texts', () => redactionOfMany('anna@example.org')),
  traces('redaction: nested texts', () => {
    const one = field(1, text('anna@example.org'));
    return requestOf(spanOf(attribute('a', field(5, repeated(one, fits(one))))));
  }),
  traces('JSON doubles of 800 digits', () => jsonArray(`{"doubleValue":0.${'7'.repeat(800)}1e-20}`), 'json'),
  traces('JSON doubles of 25 digits', () => jsonArray(`{"doubleValue":0.${'7'.repeat(100)}1e-290}`), 'json'),
  traces('a JSON number as long as the body', () => jsonArray(`{"doubleValue":0.${'7'.repeat(ROOM - 32)}}`), 'json'),
  traces('an unknown JSON number as long', () => inJson(`"unknown":1${'7'.repeat(ROOM - 32)}`), 'json'),
  traces(
    'JSON lists in lists',
    () => jsonArray(`${'{"arrayValue":{"values":['.repeat(20)}{"intValue":1}${']}}'.repeat(20)}`),
    'json',
  ),
  traces('JSON empty values', () => jsonArray('{}'), 'json'),
  traces('JSON small maps', () => jsonArray('{"kvlistValue":{"values":[{"key":"a"},{"key":"b"}]}}'), 'json'),
  traces('JSON unknown members', () => inJson(`"unknown":${list('{"a":1,"b":2}')}`), 'json'),
  traces('JSON unknown numbers', () => inJson(`"unknown":${list('1')}`), 'json'),
  traces('JSON escapes', () => inJson(`"name":"${'\\u0041'.repeat(Math.floor(ROOM / 6))}"`), 'json'),
  traces(
    'JSON environment of escapes',
    () => {
      const value = `${'\\u0041@'.repeat(Math.floor(ROOM / 7))}`;
      return Buffer.from(
        `{"resourceSpans":[{"resource":{"attributes":[{"key":"deployment.environment","value":{"stringValue":"${value}"}}]},` +
          `"scopeSpans":[{"spans":[{"traceId":"${'07'.repeat(16)}","spanId":"${'07'.repeat(8)}","startTimeUnixNano":"1"}]}]}]}`,
      );
    },
    'json',
  ),
  { name: 'histogram bounds', signal: 'metrics', encoding: 'protobuf', make: histogramBounds },
  {
    name: 'points',
    signal: 'metrics',
    encoding: 'json',
    make: (share) => {
      const points = list('{"asInt":"1"}', Math.floor(Math.min(ROOM / 14, 520_000) * share));
      return Buffer.from(
        `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":${points}}}]}]}]}`,
      );
    },
  },
  {
    name: 'log records',
    signal: 'logs',
    encoding: 'json',
    make: (share) =>
      Buffer.from(
        `{"resourceLogs":[{"scopeLogs":[{"logRecords":${list('{}', Math.floor(Math.min(ROOM / 3, 520_000) * share))}}]}]}`,
      ),
  },
  {
    name: 'empty log records',
    signal: 'logs',
    encoding: 'protobuf',
    make: (share) => requestOf(repeated(field(2, ''), Math.floor(Math.min(ROOM / 2, 520_000) * share))),
  },
  {
    name: 'log records of as many traces',
    signal: 'logs',
    encoding: 'protobuf',
    make: (share) => ofTraces(field(2, field(9, ID)), share),
  },
  {
    name: 'resources',
    signal: 'logs',
    encoding: 'json',
    make: (share) =>
      Buffer.from(`{"resourceLogs":${list('{"scopeLogs":[{"logRecords":[{}]}]}', scaled(130_000 * share))}}`),
  },
];
