/**
 * The search over a body finds the same as the expression of every hint at every position, for any bytes. A miss would
 * be stored.
 */
import * as fc from 'fast-check';
import t from 'tap';
import { finish } from '../../../src/pdata/steps.ts';
import { INPUT_BASE } from '../../../src/pdata/layout.ts';
import { Intake } from '../../../src/pdata/index-body.ts';
import { KEY_FORMS } from '../../../src/processors/privacy/redaction/api-keys.ts';
import { RESPELLINGS } from '../../../src/processors/privacy/redaction/canonical.ts';
import { Hints } from '../../../src/processors/privacy/redaction/hints.ts';
import { PRESET_NAMES, type PresetName, PRESETS } from '../../../src/processors/privacy/redaction/presets.ts';
import { EVERY_RULE } from '../../../src/processors/privacy/redaction/redactor.ts';
import { compileRules } from '../../../src/processors/privacy/redaction/rules.ts';
import { signsOf } from '../../../src/processors/privacy/redaction/signs.ts';
import { Candidates } from '../../../src/processors/privacy/redaction/candidates.ts';
import { cases } from '../../support/long.ts';
import { REDACTION_UNITS } from '../../support/redaction-units.ts';

const BLOCK = 32;
const ROOM = 8192;

/** Hints with a condition beside their prefixes, as expressions. The expression of all others is their prefixes. */
const CONDITIONS: Readonly<Partial<Record<PresetName, string>>> = {
  credit_cards: '[2-6](?:[ .\\x80-\\xff-]{0,6}\\d){11}',
  // A byte beyond ASCII is a part of a character, and no space.
  url_passwords: ':[/\\\\]{2,6}[^/:@\\t-\\r ]{0,256}:(?!\\d{0,5}\\\\?/)(?:[^"@\\t-\\r ]{1,256}@|[^"@\\t-\\r ]{256})',
};
const MORE_FINDS = ['DE89::', 'fe80::', '2001:db8::'];
const expressionOf = (name: PresetName): string => CONDITIONS[name] ?? PRESETS[name].hint.prefixes.join('|');
const DISGUISE = RESPELLINGS.prefixes.join('|');
const HINTS: readonly (readonly [expression: string, bits: number])[] = [
  ...PRESET_NAMES.map((name, index) => [expressionOf(name), 1 << index] as const),
  ['TCK-', 1 << PRESET_NAMES.length],
  ['x', 1 << (PRESET_NAMES.length + 1)],
  [DISGUISE, EVERY_RULE],
];

const redactor = compileRules(
  [
    ...PRESET_NAMES.map((preset) => ({ preset })),
    { name: 'ticket', pattern: 'TCK-[0-9]{6}' },
    { name: 'letter', pattern: 'x', replacement: '' },
  ],
  'redact',
);
const { tables } = new Intake();
const { memory } = tables;
const candidates = redactor === null ? null : new Candidates(new Hints(redactor));

function expected(body: string): number[] {
  const blocks = Array.from({ length: Math.ceil(body.length / BLOCK) }, () => 0);
  for (const [expression, bits] of HINTS)
    for (let place = 0, sticky = new RegExp(expression, 'y'); place < body.length; place++) {
      sticky.lastIndex = place;
      const block = Math.floor(place / BLOCK);
      if (sticky.test(body)) blocks[block] = (blocks[block] ?? 0) | bits;
    }
  return blocks;
}

function found(body: string): number[] {
  memory.bytes.write(body, INPUT_BASE, 'latin1');
  if (candidates !== null) finish(candidates.scan(tables, body.length));
  return Array.from(
    { length: Math.ceil(body.length / BLOCK) },
    (_, block) => candidates?.at(INPUT_BASE + block * BLOCK, 1) ?? 0,
  );
}

/** Parts of hints, whole hints and similar texts, as bytes. */
const piece = fc.oneof(
  fc.constantFrom(
    ...[
      'sk-',
      'sk',
      'pk-lf-',
      'rk_live_',
      'AKIA7',
      'gho_',
      'github_pat',
      'glsoat-',
      'glpa',
      'xoxb-',
      'hooks.slack',
      'SG.',
      'dapi0',
    ],
    ...[
      'shpss_',
      'AGE-SEC',
      'slc_',
      'BeArEr',
      'bear',
      'authoriZ',
      'authori',
      '@',
      '+',
      '+ (0',
      '+1',
      '555-0100',
      '5.',
      ' 555 0100',
    ],
    ...[
      '4111',
      '4111 1111 1111 1111',
      '4\u00e2\u0080\u00914',
      '\u00d0\u00bc',
      'DE89',
      'de8',
      '-----BEGIN',
      '----',
      'eyJ',
      'ey',
      ':f',
      ':',
      '1.2',
    ],
    ...[
      '078-05-1',
      '07-',
      '://',
      ':\\/\\/',
      ':a@',
      'u:p@',
      'sig=',
      'passWord',
      'aPiKEY=',
      '=',
      '\\u0040',
      '\\u00e9',
      '\\x40',
      '%40',
      '\u00c2\u00ad',
      '\u00e2\u0080\u008b',
      '\u00ef\u00bd\u0081',
    ],
    ...['TCK-', 'TCK', 'x', ' ', '\n', '"', 'lorem ipsum ', '.', '-', '7'],
  ),
  fc.string({ maxLength: 5, unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)) }),
);
const body = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join('').slice(0, ROOM - 64));

t.test('the search finds in each block what the expressions find', async (t) => {
  fc.assert(
    fc.property(body, (text) => t.strictSame(found(text), expected(text))),
    { numRuns: cases(1500) },
  );
});

t.test(
  'a prefix at the end of the body is found, and one that only the bytes after it would complete is not',
  async (t) => {
    for (const text of ['a@', '@', 'abc@', 'aDE89', 'DE8', '-----BEGI', '1.2', '11.2', ':f', '4111 1111 111', '', 'x'])
      for (const before of ['', 'z', 'zz', 'z'.repeat(31)]) {
        memory.bytes.fill('9', INPUT_BASE, INPUT_BASE + ROOM);
        t.strictSame(found(before + text), expected(before + text), JSON.stringify(before + text));
      }
  },
);

t.test('many rules share the last bit', async (t) => {
  const many = compileRules(
    Array.from({ length: 40 }, (_, index) => ({ name: `rule${index}`, pattern: `K${index}-`, replacement: '' })),
    'redact',
  );
  const shared = many === null ? null : new Candidates(new Hints(many));
  for (const [rule, bit] of [
    [0, 0],
    [29, 29],
    [30, 30],
    [39, 30],
  ] as const) {
    const text = `some text K${rule}- and more`;
    memory.bytes.write(text, INPUT_BASE, 'latin1');
    if (shared !== null) finish(shared.scan(tables, text.length));
    t.equal(shared?.at(INPUT_BASE, text.length), 1 << bit, text);
  }
});

t.test(
  'every text in which a rule finds anything has the prefix, the characters and the length of its hint',
  async (t) => {
    const patterns = [
      'TCK-[0-9]{6}',
      '(?i)hush',
      'foo|ba[rz]+',
      '(?:abc|x)y',
      '[ab]cd',
      'pass(?:word)?: \\S+',
      'a\\+b',
    ];
    const rules = compileRules(
      [
        ...PRESET_NAMES.map((preset) => ({ preset })),
        ...patterns.map((pattern, index) => ({ name: `own${index}`, pattern, replacement: '' })),
      ],
      'redact',
    );
    if (rules === null) throw new Error('no rules');
    const hints = new Candidates(new Hints(rules));
    const keys = KEY_FORMS.flatMap(({ begins, parts }) =>
      begins.map((begin) => begin + parts.map(({ after = '', least }) => after + '1'.repeat(least)).join('')),
    );
    const own = ['TCK-123456', 'HuSh', 'foo', 'bazz', 'abcy', 'xy', 'acd', 'password: x', 'a+b'];
    const unit = fc.oneof(
      fc.constantFrom(...REDACTION_UNITS),
      fc.constantFrom(...keys, ...own),
      fc.constantFrom(' ', 'a', '1', 'é'),
    );
    const found = new Set<string>();
    // Each rule finds something in one of them.
    const examples = [...REDACTION_UNITS, ...keys, ...own, ...MORE_FINDS].map((text): [string[]] => [[text]]);
    fc.assert(
      fc.property(fc.array(unit, { minLength: 1, maxLength: 8 }), (units) => {
        const text = units.join('');
        const length = memory.bytes.write(text, INPUT_BASE, 'utf8');
        finish(hints.scan(tables, length));
        const bits = hints.at(INPUT_BASE, length);
        for (const [index, rule] of rules.rules.entries()) {
          if (rule.find(text).length === 0) continue;
          found.add(rule.name);
          const isNoticed =
            (bits & rules.bitOf(index)) !== 0 &&
            (signsOf(text) & rule.signs) === rule.signs &&
            text.length >= rule.shortest;
          if (!isNoticed) t.fail(`${rule.name}: ${text}`);
        }
      }),
      { numRuns: examples.length + cases(6000), examples },
    );
    t.same(
      rules.rules.filter(({ name }) => !found.has(name)).map(({ name }) => name),
      [],
      'every rule found something',
    );
  },
);
