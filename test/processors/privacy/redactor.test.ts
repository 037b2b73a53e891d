/**
 * Properties of redaction: a text without a secret does not change, redacting twice is redacting once, and JSON stays
 * JSON.
 */
import * as fc from 'fast-check';
import t from 'tap';
import { SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { type Canonical, decodeOnce } from '../../../src/processors/privacy/redaction/canonical.ts';
import { finish } from '../../../src/pdata/steps.ts';
import { redactJson } from '../../../src/processors/privacy/redaction/json-text.ts';
import { PRESET_NAMES } from '../../../src/processors/privacy/redaction/presets.ts';
import type { Redactor } from '../../../src/processors/privacy/redaction/redactor.ts';
import { mayBeRespelledInSteps } from '../../../src/processors/privacy/redaction/canonical.ts';
import { compileRules, type RedactOption } from '../../../src/processors/privacy/redaction/rules.ts';
import { ENCODINGS, Scene, spans, text } from './scene.ts';
import { cases } from '../../support/long.ts';

const ALL: readonly RedactOption[] = [
  ...PRESET_NAMES.map((preset) => ({ preset })),
  { name: 'ticket', pattern: 'TCK-[0-9]{6}' },
  { name: 'word', pattern: '(?i)hush\\w*' },
];

function redactorOf(options: readonly RedactOption[]): Redactor {
  const redactor = compileRules(options, 'redact');
  if (redactor === null) throw new Error('no rules');
  return redactor;
}

const all = redactorOf(ALL);

/** Letters, marks and escapes that no rule knows. */
const harmless = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        'lorem',
        'ipsum',
        'größe',
        '日本語、です。',
        '\n',
        '\\n',
        '\\"',
        '"',
        '{',
        '}',
        '\\',
        '😀',
        '\u0000',
        ' ',
      ),
      fc.constantFrom(
        '12',
        '1763720000000000000',
        'v1.2',
        'task-list',
        'a/b',
        'C:\\dir',
        '\\u00e9',
        '50%',
        '(x)',
        'e.g.',
      ),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(' '));

const secrets = fc.constantFrom(
  'alice@example.com',
  '4111 1111 1111 1111',
  '+49 170 1234567',
  'DE89 3704 0044 0532 0130 00',
  '203.0.113.77',
  'TCK-123456',
  'hushabye',
  'Bearer 9f8e7d6c5b4a39281706',
  '078-05-1120',
  'https://u:pass1234@host/',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc',
  '-----BEGIN PRIVATE KEY-----',
  '-----END PRIVATE KEY-----',
  '\\u0040',
  '%40',
  '@',
  '4',
  '.',
  '-',
  '\\',
);
const mixed = fc
  .array(fc.oneof(secrets, harmless, fc.string({ maxLength: 6 })), { maxLength: 12 })
  .map((parts) => parts.join(''));

t.test('a text without anything to find stays the same string', async (t) => {
  fc.assert(
    fc.property(harmless, (s) => all.redact(s) === s),
    { numRuns: cases(2000) },
  );
  t.pass();
});

t.test('cleaning a clean text changes nothing', async (t) => {
  fc.assert(
    fc.property(mixed, (s) => {
      const once = all.redact(s);
      return once === null || all.redact(once) === once;
    }),
    { numRuns: cases(3000) },
  );
  t.pass();
});

t.test('rows without anything to find are stored byte for byte as without rules', async (t) => {
  const scene = new Scene();
  const plain = scene.processor();
  const redacting = scene.processor({ redact: ALL });
  fc.assert(
    fc.property(harmless, harmless, fc.constantFrom(...ENCODINGS), (key, value, encoding) => {
      const inner = { kvlistValue: { values: [text(key, value)] } };
      const message = spans({
        name: value,
        attributes: [text('a', value), text(`k${key}`, 'v'), { key: 'm', value: inner }],
      });
      const expected = scene.stored(scene.process(plain, SIGNAL_TRACES, message, encoding));
      return scene.stored(scene.process(redacting, SIGNAL_TRACES, message, encoding)) === expected;
    }),
    { numRuns: 300 },
  );
  t.pass();
});

t.test('a JSON text stays JSON, and only its strings change', async (t) => {
  const replacer = {
    text: (value: string) => all.redact(value),
    longText: (value: string) => all.clean(value),
    number: (written: string) => written,
  };
  const withoutStrings = (json: string): string => json.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  fc.assert(
    fc.property(fc.jsonValue(), mixed, mixed, (value, key, s) => {
      const json = JSON.stringify({ value, list: [s, { [key]: s, big: 1 }] });
      const cleaned = finish(redactJson(json, replacer));
      if (cleaned === null) return true;
      JSON.parse(cleaned);
      return withoutStrings(cleaned) === withoutStrings(json);
    }),
    { numRuns: cases(1000) },
  );
  t.pass();
});

t.test('a JSON text with many finds is replaced whole', async (t) => {
  const replacer = {
    text: (value: string) => value.replace('anna', '[name]'),
    longText: () => {
      throw new Error('no text is long');
    },
    number: (written: string) => written,
  };
  const values = (name: string): string[] => Array.from({ length: 20_000 }, (_, index) => `${name} ${index}`);
  const cleaned = finish(redactJson(JSON.stringify({ a: 1, values: values('anna') }), replacer));
  t.ok(cleaned === JSON.stringify({ a: 1, values: values('[name]') }));
});

t.test('few short strings of a JSON text are redacted in one step', async (t) => {
  let redacted = 0;
  const count = (value: string): string => {
    redacted++;
    return value;
  };
  const replacer = {
    text: count,
    longText: () => {
      throw new Error('no text is long');
    },
    number: count,
  };
  for (const value of ['anna', 4111]) {
    const json = JSON.stringify(Array.from({ length: 20_000 }, () => value));
    let most = 0;
    for (const steps = redactJson(json, replacer); steps.next().done !== true; redacted = 0)
      most = Math.max(most, redacted);
    t.ok(most <= 300, `${most} of ${JSON.stringify(value)} in one step`);
  }
});

t.test('a long string of a JSON text is read and written in pieces', async (t) => {
  const replacer = {
    text: (value: string) => value,
    *longText(value: string) {
      yield;
      return value.replaceAll('anna', '[name]');
    },
    number: (written: string) => written,
  };
  for (const part of ['"', '\\', '\\"', '\u0001', 'é😀', '\ud83d', '\udc00', 'a"b\\c\n']) {
    const values = (name: string): string[] =>
      ['', 'x'].map((before) => before + part.repeat(Math.ceil(1_100_000 / JSON.stringify(part).length)) + name);
    const cleaned = finish(redactJson(JSON.stringify({ a: values('anna') }), replacer));
    t.ok(cleaned === JSON.stringify({ a: values('[name]') }), JSON.stringify(part));
  }
});

t.test('every character of a decoded form keeps its position', async (t) => {
  const raw = 'a\\u0040b%40c\u200b＠d\\\\u0040';
  const forms = formsOf(raw);
  t.same(
    forms.map((form) => form.text),
    ['a@b@c@d\\u0040', 'a@b@c@d@'],
  );
  const [first, second] = forms;
  t.same(first?.starts.at(1), 1);
  t.same([...(second?.starts ?? [])].at(-1), raw.length);
  t.equal(raw.slice(second?.starts[7], second?.starts[8]), '\\\\u0040');
  t.same(formsOf('nothing to decode: größe, 日本'), []);
});

t.test('a replacement is literal, and the default is the name in brackets', async (t) => {
  const redactor = redactorOf([
    { preset: 'email', replacement: '$1 <$&>' },
    { name: 'ticket', pattern: 'TCK-[0-9]+' },
  ]);
  t.equal(redactor.redact('TCK-1 of a@example.com'), '[ticket] of $1 <$&>');
});

t.test('the first rule replaces what several rules find', async (t) => {
  const found = (...options: readonly RedactOption[]): string | null => redactorOf(options).redact('see TCK-123456x');
  t.equal(found({ name: 'long', pattern: 'TCK-[0-9x]+' }, { name: 'short', pattern: 'TCK' }), 'see [long]');
  t.equal(found({ name: 'short', pattern: 'TCK' }, { name: 'long', pattern: 'TCK-[0-9x]+' }), 'see [short]');
});

t.test('a result may match again, and a text that still matches after the last round cannot be redacted', async (t) => {
  const shrinking = redactorOf([{ name: 'pair', pattern: 'ab', replacement: '' }]);
  t.equal(shrinking.redact('xaabby'), 'xy');
  t.equal(shrinking.redact(`${'a'.repeat(20)}${'b'.repeat(20)}`), null);
});

t.test('a rule that would find its own replacement is refused at start, with its path', async (t) => {
  const options: readonly RedactOption[] = [{ preset: 'email' }, { name: 'x', pattern: 'x', replacement: 'xx' }];
  t.throws(() => compileRules(options, 'processors.privacy.redact'), {
    message: /^processors\.privacy\.redact\[1\]\.replacement: /,
  });
  for (const replacement of ['a\0b', 'half \ud83d'])
    t.throws(() => compileRules([{ name: 'x', pattern: 'y', replacement }], 'redact'), {
      message: /redact\[0\].*U\+0000/,
    });
  t.throws(() => compileRules([{ name: 'x', pattern: 'a(' }], 'redact'), {
    message: /^redact\[0\]\.pattern: missing closing \)/,
  });
  t.throws(() => compileRules([{ name: 'x', pattern: 'a*' }], 'redact'), { message: /empty text/ });
  t.equal(compileRules([], 'redact'), null);
});

t.test('ordinary text is not mistaken for a secret', async (t) => {
  const ordinary = [
    'the bearer certificates of understanding',
    'a basic understanding of sk-learn pipelines',
    'task-force-one-two-three-four',
    '2026-11-21T09:08:07.000123Z at 12:34:56+01:00',
    'version 1.2.3-beta+20240101',
    'trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7',
    '1763720000000000000 ns, 1763720000000 ms, 1763720000 s',
    '4111111111111112 fails its check digit',
    'DE89370400440532013001 too',
    'user @ home, @mention, a@b',
    'https://example.com:8080/path?x=1',
    'http://localhost:5173/@scope/page file://c:/users/a@b https://host/a:b@c http://a:b/c http://d@e',
    'ab::cd, std::vector, 10:20',
    '999.999.999.999',
    // Reduced user agents, and versions with a letter before them.
    'Mozilla/5.0 AppleWebKit/537.36.0.1 Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0',
    '{"suffix":"@example.com","also":["x","@example.com"]} say "hello" and "@example.com" <a b="c"d="@example.com">',
    'user="x"+name+"@example.com", "x."+"@example.com", "a-".b."@example.com"',
    '"one\ntwo"@example.com ""@example.com "@example.com',
    'image@2x.png icon@3x.webp, back@1.5x.jpeg, /img/logo@1.5x.PNG?x=1 a@2x.jpeg.',
    'Chrome/120.0.6099.109, (HeadlessChrome/131.0.0.0), v1.2.3.4, V1.2.3.4',
  ];
  for (const s of ordinary) t.equal(all.redact(s), s);
});

t.test('the quoted name of an address is found whole', async (t) => {
  const names = ['john doe', 'j', 'a@b', 'jörg müller', '\u{20bb7} \u{20bb7}', 'a \\"b\\" c', 'x'.repeat(64)];
  for (const name of names)
    for (const [before, after] of [
      ['', ''],
      ['to ', ', please'],
      ['<', '>'],
      ['mailto:', '?subject=x'],
    ] as const)
      t.equal(all.redact(`${before}"${name}"@example.com${after}`), `${before}[email]${after}`);
  for (const half of ['\ud83d', '\udc00']) t.equal(all.redact(`${half}a@example.com`), `${half}[email]`);
  const document = JSON.stringify({ from: '"john doe"@example.com', to: ['"a b"@example.com'] });
  t.equal(all.redact(document), '{"from":"[email]","to":["[email]"]}');
  t.equal(all.redact(JSON.stringify(document)), JSON.stringify('{"from":"[email]","to":["[email]"]}'));
});

t.test('an address that begins like the name of an image is found', async (t) => {
  for (const address of ['a@2x.png.example.com', 'a@2x.com', 'a@x.png', 'a@22x.png', 'a@2x.pngs', 'a@b2x.png'])
    t.equal(all.redact(`to ${address} now`), 'to [email] now', address);
  t.equal(all.redact('b@2x.png a@example.com'), 'b@2x.png [email]');
});

t.test('an address after a slash is no version', async (t) => {
  const before = ['http://', '//', '/', 'ip=', 'tcp/', 'host/', 'Host/', 'http:\\/\\/', 'a1/', 'lookup/'];
  for (const begin of before)
    for (const address of ['10.0.0.1', '203.0.113.77', '120.0.0.10'])
      for (const end of ['', ':80', '/x', ' up'])
        t.equal(all.redact(`${begin}${address}${end}`), `${begin}[ip_address]${end}`);
  for (const network of ['//120.0.0.0', '/120.0.0.0', 'lookup/120.0.0.0', 'Host/120.0.0.0:80', 'Host/120.0.0.0/8'])
    t.match(all.redact(network), '[ip_address]', network);
});

/** The forms of a text at each level of decoding. */
function formsOf(text: string): readonly Canonical[] {
  const forms: Canonical[] = [];
  for (;;) {
    const last = forms.at(-1);
    const { value } = decodeOnce(last?.text ?? text, last?.starts ?? null).next();
    if (value === undefined || value === null) return forms;
    forms.push(value);
  }
}

t.test('a long text is searched for other spellings in pieces, which overlap', async (t) => {
  const piece = 1_048_576;
  for (const sign of ['\\n', '%41', '\u00ad', '\uff21'])
    for (let at = piece - sign.length; at <= piece; at++) {
      const steps = mayBeRespelledInSteps(`${'x'.repeat(at)}${sign}${'y'.repeat(piece)}`);
      let step = steps.next();
      while (step.done !== true) step = steps.next();
      t.equal(step.value, true, `${JSON.stringify(sign)} at ${at}`);
    }
  const [...pauses] = mayBeRespelledInSteps('x'.repeat(3 * piece));
  t.equal(pauses.length, 2);
});
