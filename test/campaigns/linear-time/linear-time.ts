/**
 * The time of a redaction rule is linear in the length of any text. Because times differ between machines, the test
 * measures growth: eight times the text may take 24 times as long; quadratic growth would take 64 times. A pause of the
 * machine or of the garbage collector only makes a measurement longer, so a rule fails only when every attempt is too
 * slow.
 */
import t from 'tap';
import { SIGNAL_LOGS } from '../../../src/pdata/layout.ts';
import { PRESET_NAMES, PRESETS } from '../../../src/processors/privacy/redaction/presets.ts';
import { patternRule } from '../../../src/processors/privacy/redaction/pattern-rule.ts';
import { scanAll } from '../../../src/processors/privacy/redaction/scan.ts';
import { compileRules } from '../../../src/processors/privacy/redaction/rules.ts';
import { REDACTION_UNITS } from '../../support/redaction-units.ts';
import { logs, Scene } from '../../processors/privacy/scene.ts';

const TIMES_THE_TEXT = 8;
const MAX_GROWTH = 24;
/** Shorter times are dominated by other load of the machine. */
const NOISE_MS = 60;
const RUNS = 2;
const ATTEMPTS = 6;

/** Prefixes and suffixes of matches, and near matches. */
const HOSTILE = [
  ...REDACTION_UNITS,
  ...[
    'a',
    '@',
    '4-4 ',
    'sk-abcdefghijklmnopq_',
    'DE 12',
    'authorization:',
    'authorization=',
    'bearera',
    '1-',
    '+-',
    ':\\\\',
    '::1',
  ],
];

/**
 * Known patterns with exponential time in backtracking engines. The last makes finding all matches slow in any engine.
 */
const EVIL = [
  ['(a+)+$', 'a'],
  ['([a-zA-Z]+)*X', 'a'],
  ['(a|aa)+$', 'a'],
  ['(a|a?)+b', 'a'],
  ['(.*a){10}b', 'a'],
  ['^(([a-z])+.)+[A-Z]([a-z])+$', 'a'],
  ['x+x+y', 'x'],
  ['\\s+$', ' '],
  ['(\\w+\\s?)*!', 'word '],
  ['"(\\\\.|[^"])*$', '"\\'],
  ['a(?:.*z)?', 'a'],
] as const;

function timeOf(work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const begin = performance.now();
    work();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

function growsLinearly(find: (text: string) => unknown, unit: string, size: number): boolean {
  const textOf = (length: number): string => unit.repeat(Math.ceil(length / unit.length));
  const [small, large] = [textOf(size), textOf(size * TIMES_THE_TEXT)];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = timeOf(() => find(small));
    if (timeOf(() => find(large)) <= before * MAX_GROWTH + NOISE_MS) return true;
  }
  return false;
}

t.test('presets', async (t) => {
  for (const name of PRESET_NAMES)
    for (const unit of HOSTILE)
      if (!growsLinearly((text) => scanAll(PRESETS[name].scan, text), unit, 1 << 15))
        t.fail(`${name} over ${JSON.stringify(unit)}`);
  t.pass();
});

t.test('all presets together, in every spelling', async (t) => {
  const redactor = compileRules(
    PRESET_NAMES.map((preset) => ({ preset })),
    'redact',
  );
  for (const unit of HOSTILE)
    if (!growsLinearly((text) => redactor?.redact(text), unit, 1 << 14)) t.fail(JSON.stringify(unit));
  t.pass();
});

t.test('configured patterns', async (t) => {
  for (const [pattern, unit] of EVIL) {
    const rule = patternRule('evil', pattern, '[evil]');
    if (!growsLinearly((text) => rule.find(`${text}!`), unit, 1 << 14)) t.fail(pattern);
  }
  t.pass();
});

t.test('a pattern that takes too long matches the rest of the text', async (t) => {
  const rule = patternRule('evil', 'a(?:.*z)?', '[evil]');
  const found = rule.find('a'.repeat(1 << 17));
  t.equal(found[0], 0);
  t.equal(found.at(-1), 1 << 17);
  for (let at = 2; at < found.length; at += 2) if (found[at] !== found[at - 1]) t.fail('a gap');
});

t.test('the largest body is processed completely', async (t) => {
  const scene = new Scene();
  const processor = scene.processor({
    redact: [...PRESET_NAMES.map((preset) => ({ preset })), { name: 'ticket', pattern: 'TCK-[0-9]{6}' }],
  });
  const body = `${'sk-4-a@'.repeat(2_300_000)} TCK-123456`;
  const batch = scene.process(processor, SIGNAL_LOGS, logs({ body: { stringValue: body } }), 'protobuf');
  t.notMatch(scene.tables.text(batch).slice(-2000), /TCK-123456/);
});
