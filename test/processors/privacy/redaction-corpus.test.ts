/** Secrets of every kind, in every place, in every spelling: none of them is stored. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { processAtOnce } from '../../support/process-at-once.ts';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { PRESET_NAMES } from '../../../src/processors/privacy/redaction/presets.ts';
import { ENCODINGS, logs, metrics, Scene, spans, START, text } from './scene.ts';

interface Secret {
  readonly kind: string;
  /** As it is sent. */
  readonly sent: string;
  /** The text that must not be stored. */
  readonly hidden: string;
}

const secret = (kind: string, sent: string, hidden = sent): Secret => ({ kind, sent, hidden });
/** Joined here, so that no secret scanner reports this file. */
const join = (...parts: readonly string[]): string => parts.join('');

const PEM = [
  '-----BEGIN RSA PRIVATE KEY-----',
  'MIIEpAIBAAKCAQEA1234567890',
  'canarycanarycanary',
  '-----END RSA PRIVATE KEY-----',
];
const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N';

/** Encrypted tokens; the first one has no key of its own, as session tokens of web frameworks. */
const JWE_HEADER = 'eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0';
const JWE_REST = 'SXNyMnFYZ0cxcA.Y2FuYXJ5IGNhbmFyeQ.dGFnY2FuYXJ5MTIzNDU';

const SECRETS: readonly Secret[] = [
  secret('api_keys', join('sk-', 'proj-abcd1234efgh5678ijkl9012mnop')),
  secret('api_keys', join('sk-', 'ant-api03-abcdefgh1234-5678_90AB')),
  secret('api_keys', join('AKIA', 'IOSFODNN7EXAMPLE')),
  secret('api_keys', join('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a')),
  secret('api_keys', join('AIza', 'SyA1234567890abcdefghijklmnopqrstuv')),
  secret('api_keys', join('xoxb', '-123456789012-abcdefghijkl')),
  secret('api_keys', join('hf', '_abcdefghijklmnopqrstuvwxyz123456')),
  secret('api_keys', join('slc', '_abcd1234_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG')),
  secret('api_keys', join('slr', '_abcd1234_abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG')),
  secret('bearer_tokens', 'Bearer 9f8e7d6c5b4a39281706', '9f8e7d6c5b4a39281706'),
  secret('bearer_tokens', 'authorization: Basic dXNlcjpwYXNzd29yZA==', 'dXNlcjpwYXNzd29yZA'),
  secret('email', 'alice.o+test@mail.example.com', 'alice.o+test'),
  secret('email', 'bob@bücher.example', 'bob@'),
  secret('email', 'jose\u0301@example.com', 'jose'),
  secret('email', 'यूज़र@उदाहरण.भारत', 'यू'),
  secret('email', 'anna.\u{20bb7}@example.com', 'anna.\u{20bb7}'),
  secret('email', '"john doe"@example.com', 'john doe'),
  secret('phone', '+49 170 123 45 67', '123 45 67'),
  secret('phone', '+14155552671', '4155552671'),
  secret('phone', '(415) 555-2671', '555-2671'),
  secret('credit_cards', '4111111111111111'),
  secret('credit_cards', '5555 5555 5555 4444'),
  secret('credit_cards', '3782-822463-10005'),
  secret('iban', 'DE89370400440532013000'),
  secret('iban', 'GB82 WEST 1234 5698 7654 32'),
  secret('private_keys', PEM.join('\n'), 'canarycanarycanary'),
  secret('jwt', JWT),
  secret('jwt', `${JWE_HEADER}..${JWE_REST}`, 'dGFnY2FuYXJ5MTIzNDU'),
  secret('jwt', `${JWE_HEADER}.QR1Owv2ug2WyPBnbQrRARTe.${JWE_REST}`, 'dGFnY2FuYXJ5MTIzNDU'),
  secret('ip_address', '203.0.113.77'),
  secret('ip_address', '2001:db8:85a3::8a2e:370:7334'),
  secret('us_ssn', '078-05-1120'),
  secret('url_passwords', 'postgres://app:hunter2-canary@db/x', 'hunter2-canary'),
  secret('url_passwords', 'postgres://app:hunter2@canary-part@db/x', 'canary-part'),
  secret('url_passwords', 'postgres://app:hunter2/canary@part@db/x', 'canary'),
  secret('url_passwords', `https://token:${'hunter2-canary'.repeat(40)}@host`, 'hunter2-canary'),
  secret('url_parameters', 'https://h/x?a=1&access_token=canary-part&b=2', 'canary-part'),
  secret('url_parameters', 'jdbc:sqlserver://db:1433;user=a;Password=hunter2&canary;encrypt=true', 'hunter2&canary'),
  secret('url_parameters', 'https://h/x?X-Amz-Signature=0a1bcanary2c', '0a1bcanary2c'),
  secret('url_parameters', 'https://h/x?password=schön-canary', 'canary'),
  secret('url_parameters', 'https://h/x?user[password]=hunter2-canary&b=2', 'hunter2-canary'),
  secret('url_parameters', 'Server=db;Password="hunter2;canary";Encrypt=true', 'hunter2;canary'),
  // As models and word processors write numbers.
  secret('phone', '+33\u202f1\u202f23\u202f45\u202f67\u202f89', '45\u202f67\u202f89'),
  secret('phone', '415\u2011555\u20112671', '555\u20112671'),
  secret('phone', '(415)\u00a0555-2671', '\u00a0555-2671'),
  secret('credit_cards', '4111\u202f1111\u202f1111\u202f1111'),
  secret('phone', '+33\u30001\u300023\u300045\u300067\u300089', '45\u300067\u300089'),
  secret('phone', '415\u2212555\u22122671', '555\u22122671'),
  secret('phone', '415\u3000555\u30002671', '555\u30002671'),
  secret('credit_cards', '4111\u30001111\u30001111\u30001111'),
  secret('credit_cards', '4111\u22121111\u22121111\u22121111'),
  secret('us_ssn', '078\u221205\u22121120'),
  secret('iban', 'GB82\u202fWEST\u202f1234\u202f5698\u202f7654\u202f32'),
  secret('us_ssn', '078\u201105\u20111120'),
  secret('ticket', 'TCK-123456'),
];

type Request = readonly [signal: 0 | 1 | 2, message: object];

const value = (inner: string): object => ({ stringValue: inner });
const list = (...values: readonly object[]): object => ({ arrayValue: { values } });
const map = (key: string, inner: object): object => ({ kvlistValue: { values: [{ key, value: inner }] } });
const spanWith = (attribute: object): Request => [
  SIGNAL_TRACES,
  spans({ attributes: [{ key: 'a', value: attribute }] }),
];
const point = { timeUnixNano: START, asInt: '1' };
const LINK = { traceId: 'a1b2c3d4e5f60718293a4b5c6d7e8f90', spanId: 'a1b2c3d4e5f60718' };

/** Every place of the three signals where a sender's text is stored. */
const PLACES: Readonly<Record<string, (s: string) => Request>> = {
  'span attribute': (s) => spanWith(value(s)),
  'span name': (s) => [SIGNAL_TRACES, spans({ name: s })],
  'status message': (s) => [SIGNAL_TRACES, spans({ status: { code: 2, message: s } })],
  'trace state': (s) => [SIGNAL_TRACES, spans({ traceState: s })],
  'event name': (s) => [SIGNAL_TRACES, spans({ events: [{ name: s }] })],
  'event attribute': (s) => [SIGNAL_TRACES, spans({ events: [{ name: 'e', attributes: [text('a', s)] }] })],
  'link attribute': (s) => [SIGNAL_TRACES, spans({ links: [{ ...LINK, attributes: [text('a', s)] }] })],
  'link trace state': (s) => [SIGNAL_TRACES, spans({ links: [{ ...LINK, traceState: s }] })],
  'attribute key': (s) => [SIGNAL_TRACES, spans({ attributes: [text(s, 'v')] })],
  'event attribute key': (s) => [SIGNAL_TRACES, spans({ events: [{ name: 'e', attributes: [text(s, 'v')] }] })],
  'resource attribute': (s) => [SIGNAL_TRACES, spans({}, { resource: [text('a', s)] })],
  'resource key': (s) => [SIGNAL_TRACES, spans({}, { resource: [text(s, 'v')] })],
  'service name': (s) => [SIGNAL_LOGS, logs({}, { resource: [text('service.name', s)] })],
  environment: (s) => [SIGNAL_LOGS, logs({}, { resource: [text('deployment.environment', s)] })],
  'scope name': (s) => [SIGNAL_TRACES, spans({}, { scope: { name: s } })],
  'scope version': (s) => [SIGNAL_TRACES, spans({}, { scope: { name: 'x', version: s } })],
  'scope attribute': (s) => [SIGNAL_TRACES, spans({}, { scope: { name: 'x', attributes: [text('a', s)] } })],
  'text in a list': (s) => spanWith(list({ intValue: '1' }, value(s))),
  'text in a map': (s) => spanWith(map('k', value(s))),
  'key in a map': (s) => spanWith(map(s, value('v'))),
  'text deep down': (s) => spanWith(list(map('k', list(map('l', value(s)))))),
  'log body': (s) => [SIGNAL_LOGS, logs({ body: value(s) })],
  'log body as a map': (s) => [SIGNAL_LOGS, logs({ body: map('k', value(s)) })],
  'severity text': (s) => [SIGNAL_LOGS, logs({ severityText: s })],
  'log event name': (s) => [SIGNAL_LOGS, logs({ eventName: s })],
  'log attribute': (s) => [SIGNAL_LOGS, logs({ attributes: [text('a', s)] })],
  'metric name': (s) => [SIGNAL_METRICS, metrics({ name: s, gauge: { dataPoints: [point] } })],
  'metric description': (s) => [SIGNAL_METRICS, metrics({ name: 'm', description: s, gauge: { dataPoints: [point] } })],
  'metric unit': (s) => [SIGNAL_METRICS, metrics({ name: 'm', unit: s, gauge: { dataPoints: [point] } })],
  'metric metadata': (s) => [
    SIGNAL_METRICS,
    metrics({ name: 'm', metadata: [text('a', s)], gauge: { dataPoints: [point] } }),
  ],
  'point attribute': (s) => [
    SIGNAL_METRICS,
    metrics({ name: 'm', sum: { aggregationTemporality: 2, dataPoints: [{ ...point, attributes: [text('a', s)] }] } }),
  ],
  'exemplar attribute': (s) => [
    SIGNAL_METRICS,
    metrics({
      name: 'm',
      gauge: { dataPoints: [{ ...point, exemplars: [{ ...point, filteredAttributes: [text('a', s)] }] }] },
    }),
  ],
};

const unicode = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
const escaped = (s: string): string => s.split('').map(unicode).join('');
const wide = (s: string): string =>
  s.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

/** Spellings that a reader or another program would decode to the secret. */
const SPELLINGS: Readonly<Record<string, (s: string) => string>> = {
  plain: (s) => s,
  'inside a sentence': (s) => `please use (${s}), thanks`,
  'behind much text': (s) => `${'lorem ipsum dolor sit amet '.repeat(4000)} ${s}`,
  'between lines': (s) => `first\n${s}\nlast`,
  'in a JSON document': (s) => JSON.stringify({ note: `line\n${s}\t"quoted"` }),
  'in a document in a document': (s) => JSON.stringify({ inner: JSON.stringify({ note: `line\n${s}` }) }),
  'with one escaped character': (s) => `{"a":"${unicode(s.charAt(0))}${s.slice(1).replaceAll('\n', '\\n')}"}`,
  'with every character escaped': (s) => `{"a":"${escaped(s)}"}`,
  'escaped twice': (s) => JSON.stringify({ inner: `{"a":"${escaped(s)}"}` }),
  'with escaped slashes': (s) => JSON.stringify({ a: s }).replaceAll('/', '\\/'),
  'percent-encoded': (s) =>
    `https://host/?q=${[...Buffer.from(s)].map((b) => `%${b.toString(16).padStart(2, '0')}`).join('')}`,
  'in full-width letters': wide,
  'with an invisible character': (s) => `${s.slice(0, 5)}\u200b${s.slice(5)}`,
  'with a soft hyphen': (s) => `${s.slice(0, 4)}\u00ad${s.slice(4)}`,
};

const scene = new Scene();
const processor = scene.processor({
  redact: [
    ...PRESET_NAMES.map((preset) => ({ preset })),
    { name: 'ticket', pattern: 'TCK-[0-9]{6}', replacement: '[ticket]' },
  ],
});

/** The stored bytes with every spelling decoded. */
function undone(stored: string): string {
  let current = stored
    .replace(/[\u200b\u00ad]/g, '')
    .replace(/[！-～]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0xfee0));
  for (let level = 0; level < 6; level++)
    current = current
      .replace(/\\u([0-9a-fA-F]{4})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/%([2-7][0-9a-fA-F])/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
      .replace(/\\([/"\\])/g, '$1');
  return current;
}

const storedOf = ([signal, message]: Request, encoding: (typeof ENCODINGS)[number]): string =>
  scene.stored(scene.process(processor, signal, message, encoding));

t.test('no secret of any kind is stored, in any place and encoding', async (t) => {
  let placements = 0;
  for (const [place, request] of Object.entries(PLACES))
    for (const { kind, sent, hidden } of SECRETS)
      for (const encoding of ENCODINGS) {
        placements++;
        const stored = storedOf(request(sent), encoding);
        // Environments are compared, and stored, in lower case.
        const found =
          place === 'environment' ? stored.toLowerCase().includes(hidden.toLowerCase()) : stored.includes(hidden);
        if (found) t.fail(`${kind} as ${place} in ${encoding}: ${sent}`);
        if (!stored.includes(`[${kind}]`)) t.fail(`${kind} as ${place} in ${encoding}: the replacement is missing`);
      }
  t.ok(placements > 300, `${placements} placements`);
});

/** Percent signs for characters beyond ASCII are not decoded. */
const BEYOND_ASCII_DOMAIN = /@.*[^ -~]/;

t.test('no spelling hides a secret', async (t) => {
  let placements = 0;
  const places = ['span attribute', 'text in a map', 'log body', 'span name', 'attribute key'];
  for (const [spelling, spell] of Object.entries(SPELLINGS))
    for (const { kind, sent, hidden } of SECRETS)
      for (const place of places)
        for (const encoding of ENCODINGS) {
          if (BEYOND_ASCII_DOMAIN.test(sent) && spelling === 'percent-encoded') continue;
          placements++;
          const request = PLACES[place]?.(spell(sent));
          if (request === undefined) continue;
          const stored = undone(storedOf(request, encoding));
          if (stored.includes(hidden)) t.fail(`${kind} ${spelling} as ${place} in ${encoding}`);
        }
  t.ok(placements > 300, `${placements} placements`);
});

t.test('escapes of the request itself hide no secret', async (t) => {
  for (const [place, request] of Object.entries(PLACES))
    for (const { kind, sent, hidden } of SECRETS) {
      const [signal, message] = request('PLACEHOLDER');
      const body = JSON.stringify(message).replaceAll('PLACEHOLDER', escaped(sent));
      const batch = scene.tables.batch(signal, { json: body });
      batch.context.credential = {
        project: { name: 'demo', plan: 'paid', monthlySpans: null, privacy: new Map() },
        environment: null,
        keyId: 'static:0',
      };
      const environment = place === 'environment' ? sent : 'default';
      for (let resource = 0; resource < batch.resourceCount; resource++)
        batch.setEnvironment(resource, batch.tables.scratch(environment) ?? { offset: 0, length: 0, flags: 0 });
      processAtOnce(processor, batch);
      if (undone(scene.stored(batch)).includes(hidden)) t.fail(`${kind} as ${place}`);
    }
  t.pass();
});

t.test('no invisible character hides a secret', async (t) => {
  const INVISIBLE = /^\p{Default_Ignorable_Code_Point}$/u;
  const LAST = 0xe0fff;
  const isInvisible = (code: number): boolean => INVISIBLE.test(String.fromCodePoint(code));
  let tried = 0;
  for (let code = 0x80; code <= LAST; code++) {
    // The first and the last character of each range of them.
    if (!isInvisible(code) || (isInvisible(code - 1) && isInvisible(code + 1))) continue;
    tried++;
    const character = String.fromCodePoint(code);
    const request = PLACES['span attribute']?.(`see TCK${character}-777${character}888`);
    if (request === undefined) continue;
    const [signal, message] = request;
    const escapedBody = JSON.stringify(message).replaceAll(character, character.split('').map(unicode).join(''));
    for (const stored of [
      ...ENCODINGS.map((encoding) => storedOf(request, encoding)),
      scene.stored(scene.processBody(processor, signal, { json: escapedBody })),
    ])
      if (!stored.includes('see [ticket]') || stored.includes('777')) t.fail(`U+${code.toString(16)}: ${stored}`);
  }
  t.ok(tried > 25, `${tried} characters`);
});

t.test('card numbers are found among numbers', async (t) => {
  const card = '4111111111111111';
  const cases = (sent: string): readonly object[] => [
    { intValue: sent },
    { doubleValue: Number(sent) },
    list({ intValue: sent }),
    map('k', { intValue: sent }),
    map('k', list({ doubleValue: Number(sent) })),
    value(JSON.stringify({ k: [Number(sent)] })),
  ];
  for (const encoding of ENCODINGS)
    for (const inner of [...cases(card), ...cases(`-${card}`)]) {
      for (const request of [spanWith(inner), [SIGNAL_LOGS, logs({ body: inner })] as const]) {
        const stored = storedOf(request, encoding);
        t.notMatch(stored, card, JSON.stringify(inner));
        t.match(stored, /\[credit_cards\]/, JSON.stringify(inner));
      }
    }
  // Some languages write large doubles with an exponent, and then without the zeros at the end.
  for (const written of ['4.111111111111111E15', '-41111111111111110e-1', '4.00000000000001E15', '4111111111111111.0'])
    for (const inner of [{ doubleValue: 0.5 }, list({ doubleValue: 0.5 }), map('k', { doubleValue: 0.5 })]) {
      const [signal, message] = spanWith(inner);
      const json = JSON.stringify(message).replace('0.5', written);
      t.match(scene.stored(scene.processBody(processor, signal, { json })), /"-?\[credit_cards\]"/, json);
    }
  // A fraction does not hide the digits before it.
  for (const encoding of ENCODINGS)
    t.match(storedOf(spanWith({ doubleValue: 4111111111111111.5 }), encoding), /"\[credit_cards\]\.5"/);
  const harmless = spanWith(list({ intValue: '9223372036854775807' }, { intValue: '-4111111111111112' }));
  for (const encoding of ENCODINGS) t.match(storedOf(harmless, encoding), '[9223372036854775807,-4111111111111112]');
});

t.test('keys that become the same get a number', async (t) => {
  const attributes = ['a@example.com', 'b@example.com', 'plain'].map((key) => text(key, `value of ${key.charAt(0)}`));
  const nested = { key: 'm', value: { kvlistValue: { values: attributes } } };
  for (const encoding of ENCODINGS) {
    const batch = scene.process(processor, SIGNAL_TRACES, spans({ attributes: [...attributes, nested] }), encoding);
    const [line] = scene.tables.lines(batch);
    const expected = { '[email]': 'value of a', '[email]#2': 'value of b', plain: 'value of p' };
    t.same(line?.['attributes'], { ...expected, m: expected });
  }
});

t.test('a replaced key that equals another key gets a number', async (t) => {
  const names = ['a@example.com', '[email]', 'b@example.com#3', '[email]#2', 'c@example.com', 'd@example.com'];
  const attributes = names.map((key, index) => text(key, String(index)));
  const nested = { key: 'm', value: { kvlistValue: { values: attributes } } };
  const expected = { '[email]': '1', '[email]#2': '3', '[email]#3': '0', '[email]#3#2': '2' };
  for (const encoding of ENCODINGS) {
    const batch = scene.process(processor, SIGNAL_TRACES, spans({ attributes: [...attributes, nested] }), encoding);
    const [line] = scene.tables.lines(batch);
    const complete = { ...expected, '[email]#4': '4', '[email]#5': '5' };
    t.same(line?.['attributes'], { ...complete, m: complete });
  }
});

t.test('no value is lost, whatever keys become the same', async (t) => {
  const names = ['a@example.com', 'b@example.com', '[email]', '[email]#2', 'a@example.com#2', '[email]#3', 'plain'];
  fc.assert(
    fc.property(fc.shuffledSubarray(names), fc.constantFrom(...ENCODINGS), (keys, encoding) => {
      const attributes = keys.map((key) => text(key, `value of ${names.indexOf(key)}`));
      const nested = { key: 'm', value: { kvlistValue: { values: attributes } } };
      const batch = scene.process(processor, SIGNAL_TRACES, spans({ attributes: [...attributes, nested] }), encoding);
      const [line = {}] = scene.tables.lines(batch);
      const { m, ...stored } = line['attributes'] as Record<string, object>;
      const sent = keys.map((key) => `value of ${names.indexOf(key)}`).toSorted();
      for (const values of [stored, m ?? {}]) {
        if (!isDeepStrictEqual(Object.values(values).toSorted(), sent)) throw new Error(JSON.stringify(values));
      }
    }),
    { numRuns: 100 },
  );
  t.pass();
});

t.test('each rule counts what it replaced', async (t) => {
  const counting = new Scene();
  const own = counting.processor({ redact: [{ preset: 'email' }, { name: 'word', pattern: 'secret' }] });
  const attributes = [text('a', 'x@example.com y@example.com'), text('b', 'secret'), text('c', 'nothing')];
  counting.process(own, SIGNAL_TRACES, spans({ attributes }), 'json');
  t.same(
    [...counting.counts],
    [
      ['email', 2],
      ['word', 1],
    ],
  );
});
