/**
 * The scanners of the presets: every form is found, at once or in pieces, and no repetition is too long.
 */
import * as fc from 'fast-check';
import { isIPv4, isIPv6 } from 'node:net';
import t from 'tap';
import { SIGNAL_LOGS } from '../../../src/pdata/layout.ts';
import { finish } from '../../../src/pdata/steps.ts';
import {
  KEY_FORMS,
  prefixesOf,
  scanApiKeys,
  SHORTEST_KEY,
} from '../../../src/processors/privacy/redaction/api-keys.ts';
import { scanAddresses } from '../../../src/processors/privacy/redaction/addresses.ts';
import { patternRule } from '../../../src/processors/privacy/redaction/pattern-rule.ts';
import { PRESET_NAMES, PRESETS } from '../../../src/processors/privacy/redaction/presets.ts';
import { compileRules } from '../../../src/processors/privacy/redaction/rules.ts';
import { scanAll, scanInSteps } from '../../../src/processors/privacy/redaction/scan.ts';
import { cases } from '../../support/long.ts';
import { REDACTION_UNITS } from '../../support/redaction-units.ts';
import { ENCODINGS, logs, Scene } from './scene.ts';

const MIB = 1024 * 1024;
const ALL_PRESETS = PRESET_NAMES.map((preset) => ({ preset }));

/** The shortest keys of a form. */
function examples({ begins, parts }: (typeof KEY_FORMS)[number]): string[] {
  return begins.map((begin) => begin + parts.map(({ after = '', least }) => after + '1'.repeat(least)).join(''));
}

t.test('the shortest key of every form is found in a body and replaced, in both encodings', async (t) => {
  const scene = new Scene();
  const processor = scene.processor({ redact: [{ preset: 'api_keys' }] });
  for (const key of KEY_FORMS.flatMap(examples)) {
    t.ok(key.length >= SHORTEST_KEY);
    t.same(scanAll(scanApiKeys, key), [0, key.length], key);
    for (const encoding of ENCODINGS) {
      const batch = scene.process(processor, SIGNAL_LOGS, logs({ body: { stringValue: `use ${key} now` } }), encoding);
      t.match(scene.tables.text(batch), '"body":"use [api_keys] now"', `${encoding} ${key}`);
    }
  }
});

t.test('a key form without a literal prefix is refused', async (t) => {
  const { parts } = KEY_FORMS[0] ?? { parts: [] };
  for (const begins of [[], [''], ['k'], ['k-'], ['tok-', ''], ['/key-'], ['schlüssel-']])
    t.throws(() => prefixesOf([{ begins, parts }]), { message: /needs a literal prefix/ }, begins.join());
  t.same(prefixesOf([{ begins: ['ab-1', 'ac-23'], parts }]), ['a[bc]\\-[12]']);
});

t.test('a beginning repeated to eight mebibytes is no fault', async (t) => {
  const scene = new Scene();
  const processor = scene.processor({ redact: ALL_PRESETS });
  for (const unit of [
    ...['xoxb-', 'sk-ant-api03-', 'glpat-', 'AIza', 'eyJ', 'authorization:', 'bearer a', 'whsec_/+'],
    ...[';pwd={', ';pwd="', ';pwd=""a'],
  ]) {
    const body = unit.repeat(Math.ceil((8 * MIB) / unit.length));
    const batch = scene.process(processor, SIGNAL_LOGS, logs({ body: { stringValue: body } }), 'protobuf');
    t.ok(scene.tables.text(batch).length > 0, unit);
  }
});

t.test('a scan in pieces finds what a scan at once finds', async (t) => {
  const text = fc
    .array(fc.constantFrom(...REDACTION_UNITS, 'a', '1', ' '), { maxLength: 12 })
    .map((units) => units.join(''));
  fc.assert(
    fc.property(fc.constantFrom(...PRESET_NAMES), text, fc.integer({ min: 1, max: 7 }), (name, text, piece) => {
      const { scan } = PRESETS[name];
      const found: number[] = [];
      for (let at = 0; at < text.length; ) at = scan(text, at, Math.min(at + piece, text.length), found, []);
      t.same(found, scanAll(scan, text), `${name} ${text}`);
    }),
    { numRuns: cases(5000) },
  );
});

t.test('a secret of any length is found whole, in steps of bounded length', async (t) => {
  const long = (part: string): string => part.repeat(Math.ceil(MIB / part.length));
  const secrets: readonly (readonly [before: string, secret: string])[] = [
    ['', `sk-${long('a1-')}`],
    ['', `whsec_${long('a+')}`],
    ['', `hooks.slack.com/services/${long('a/')}`],
    ['', `slc_12345678_${long('a')}`],
    ['Authorization: ', long('a=')],
    ['bearer ', long('a.')],
    ['?sig=', long('a%')],
    ['', `eyJhbGciOiJI.${long('a')}.c2ln`],
    ['', `eyJhbGciOiJI.cGF5bG9h.${long('a')}`],
  ];
  const redactor = compileRules(ALL_PRESETS, 'redact');
  for (const [before, secret] of secrets) {
    const steps = redactor?.clean(`${before}${secret} next`) ?? never();
    let count = 0;
    let step = steps.next();
    for (; step.done === false; step = steps.next()) count++;
    t.match(step.value, /^\S* ?\[\w+\] next$/, secret.slice(0, 20));
    t.ok(count > 8, `${count} steps`);
  }
});

t.test('a preset that reads each character of a long text reads at most 32 KiB in one step', async (t) => {
  for (const preset of ['credit_cards', 'iban', 'ip_address', 'phone', 'us_ssn'] as const) {
    const [...steps] = scanInSteps(PRESETS[preset].scan, '1.2.3.'.repeat(MIB), []);
    t.ok(steps.length >= (6 * MIB) / 32_768, `${preset}: ${steps.length} steps`);
  }
});

t.test('a number of any length ends no search', async (t) => {
  const redactor = compileRules(ALL_PRESETS, 'redact');
  const digits = '4'.repeat(MIB);
  t.equal(finish(redactor?.clean(`${digits} 4111 1111 1111 1111`) ?? never()), `${digits} [credit_cards]`);
});

t.test('of parameters only the values of secrets are replaced', async (t) => {
  const redactor = compileRules([{ preset: 'url_parameters', replacement: '*' }], 'redact');
  for (const [text, expected] of [
    ['https://h/?token=a)&page=2#top', 'https://h/?token=*&page=2#top'],
    ['https://h/#access_token=a.b-c&expires_in=1', 'https://h/#access_token=*&expires_in=1'],
    ['https://h/?a=1&amp;api-key=b&amp;c=2', 'https://h/?a=1&amp;api-key=*;c=2'],
    ['https://h/?to=%2Fx%3FclientSecret%3Db%26c%3D2', 'https://h/?to=%2Fx%3FclientSecret%3D*%26c%3D2'],
    ['jdbc:mysql://h/d?user=a&trustStorePassword=b;c d', 'jdbc:mysql://h/d?user=a&trustStorePassword=* d'],
    ['Server=h;Pwd=a&b;Encrypt=1', 'Server=h;Pwd=*;Encrypt=1'],
    ['<a href="/?sig=a">', '<a href="/?sig=*">'],
    ['https://h/?user[password]=a&b=2', 'https://h/?user[password]=*&b=2'],
    ['https://h/?user%5Bpassword%5D=a&b=2', 'https://h/?user%5Bpassword%5D=*&b=2'],
    ['https://h/?a=1&user[login][api][key]=b', 'https://h/?a=1&user[login][api][key]=*'],
    ['https://h/?password[0]=a&access_tokens[]=b&secret[]=c', 'https://h/?password[0]=*&access_tokens[]=b&secret[]=*'],
    ['Server=h;Password="a;b c";Encrypt=1', 'Server=h;Password="*";Encrypt=1'],
    ["Server=h;Pwd='a;b';Encrypt=1", "Server=h;Pwd='*';Encrypt=1"],
    ['Driver={x};PWD={a;b};Trusted=no', 'Driver={x};PWD={*};Trusted=no'],
    ['Driver={x};PWD={a}};b};Trusted=no', 'Driver={x};PWD={*};Trusted=no'],
    ['Server=h;Pwd={a}b;Encrypt=1', 'Server=h;Pwd=*;Encrypt=1'],
    ['Server=h;Password="a"";b";Encrypt=1', 'Server=h;Password="*";Encrypt=1'],
    ["https://h/?token='a+b%2F'&page=2", "https://h/?token='*'&page=2"],
    [
      '{"args":"{\\"url\\":\\"https://h/?user[pwd]=a&b=2\\"}"}',
      '{"args":"{\\"url\\":\\"https://h/?user[pwd]=*&b=2\\"}"}',
    ],
    ...[
      ...['https://h/?page_token=a&nextToken=b&q=password', 'token=a, ?token=', '?token= a', '?max_tokens=5'],
      ...['<a href="/?token=" class="a">', '{"url":"/?token=","a":"b"}', "<a href='/?sig='>a</a>'"],
      ...['{"dsn":"Server=h;Pwd=","a":"b"}', 'a = "Server=h;Pwd="; b = "c"', "'/?token='+token+'&page=2'"],
      ...['https://h/?design=a&key=b&signed=c', '?tokens[0]=a', '?a[0]=b&c[key]=d', `?${'a'.repeat(64)}_password=b`],
    ].map((text) => [text, text] as const),
  ] as const)
    t.equal(redactor?.redact(text), expected);
});

t.test('addresses are those that node:net accepts', async (t) => {
  const group = fc.constantFrom('0', '1', 'ffff', '12345', '', 'g', '255', '256', '01');
  const six = fc.array(group, { minLength: 2, maxLength: 9 }).map((groups) => groups.join(':'));
  const four = fc.array(fc.constantFrom('0', '1', '10', '255', '256', '01'), { minLength: 3, maxLength: 5 });
  const address = fc.oneof(
    six,
    four.map((bytes) => bytes.join('.')),
    fc.tuple(six, four).map(([buckets, bytes]) => `${buckets}:${bytes.join('.')}`),
  );
  fc.assert(
    fc.property(address, (address) => {
      const isWhole = scanAll(scanAddresses, address).join() === `0,${address.length}`;
      const isAddress = isIPv4(address) || (isIPv6(address) && address.length >= 6 && /\d/.test(address));
      if (isWhole !== isAddress) t.fail(address);
    }),
    { numRuns: cases(20_000) },
  );
  t.pass();
});

t.test('redaction in steps has the same result as at once, in many steps', async (t) => {
  const redactor = compileRules([...ALL_PRESETS, { name: 'ticket', pattern: 'TCK-[0-9]{6}' }], 'redact');
  const filler = 'lorem ipsum dolor sit amet '.repeat(4000);
  const text = `${filler}a@b.com ${filler} TCK-123456 ${filler}\\u0061@c.com ${filler}`;
  const steps = redactor?.clean(text);
  let count = 0;
  for (; steps?.next().done === false; ) count++;
  t.ok(count > 20, `${count} steps`);
  t.equal(finish(redactor?.clean(text) ?? never()), `${filler}[email] ${filler} [ticket] ${filler}[email] ${filler}`);
});

t.test('windows find what a pattern finds in the whole text', async (t) => {
  const patterns = ['TCK-[0-9]{6}', '\\bword\\b', '^begin', 'end$', '[a-z]+@[a-z]+', '(?s)<a>.*?</a>', 'ab?c?'];
  const unit = fc.constantFrom(
    'TCK-123456',
    'word',
    'words',
    'begin',
    'end',
    'ab@cd',
    '<a>',
    '</a>',
    ' ',
    '\n',
    'é',
    'x'.repeat(3000),
  );
  fc.assert(
    fc.property(fc.constantFrom(...patterns), fc.array(unit, { minLength: 40, maxLength: 60 }), (pattern, units) => {
      // Without a limit of time, which a busy machine could reach.
      const rule = patternRule('own', pattern, '', () => 0);
      const text = units.join('');
      const expected = rule.find(text);
      // A longer match of a pattern without a longest match is not promised.
      fc.pre(expected.every((to, index) => index % 2 === 0 || to - (expected[index - 1] ?? 0) <= 16_384));
      const found: number[] = [];
      for (const steps = rule.search(text, found); steps.next().done !== true; );
      t.same(found, expected, pattern);
    }),
    { numRuns: cases(400) },
  );
});

t.test('the rest of a text is not replaced when the process was suspended during the search', async (t) => {
  let processorMs = 0;
  const rule = patternRule('ticket', 'TCK-[0-9]{6}', '', () => processorMs++);
  const text = `${'x '.repeat(40_000)}TCK-123456 ${'y '.repeat(40_000)}`;
  const expected = [80_000, 80_010];
  let suspendedMs = 0;
  const clock = performance.now.bind(performance);
  // Each reading of the clock is ten seconds after the one before.
  performance.now = () => clock() + (suspendedMs += 10_000);
  t.teardown(() => Reflect.deleteProperty(performance, 'now'));
  t.same(rule.find(text), expected);
  const found: number[] = [];
  for (const steps = rule.search(text, found); steps.next().done !== true; );
  t.same(found, expected);
});

function never(): never {
  throw new Error('no rules');
}
