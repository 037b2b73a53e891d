/**
 * The time a rule takes grows with the text and no faster, whatever the text. Times differ from machine to machine, so growth is
 * measured: eight times the text may take twenty-four times as long, where quadratic growth takes sixty-four. A pause of the machine
 * or of the collector makes one measurement long, never short: a rule is slow only if every attempt says so.
 */
import t from 'tap';
import { SIGNAL_LOGS } from '../../../src/pdata/layout.ts';
import { PRESET_NAMES, PRESETS } from '../../../src/processors/privacy/redaction/presets.ts';
import { patternRule } from '../../../src/processors/privacy/redaction/pattern-rule.ts';
import { scanAll } from '../../../src/processors/privacy/redaction/scan.ts';
import { compileRules } from '../../../src/processors/privacy/redaction/rules.ts';
import { REDACTION_UNITS } from '../../support/hostile-bodies.ts';
import { logs, Scene } from '../../processors/privacy/scene.ts';

const TIMES_THE_TEXT = 8;
const MAX_GROWTH = 24;
/** Below this, a machine that does other things as well is all one measures. */
const NOISE_MS = 60;
const RUNS = 2;
const ATTEMPTS = 6;

/** Beginnings without ends, ends without beginnings, and everything that nearly matches. */
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

/** From the lists by which backtracking engines are brought down; the last can make finding all matches slow in any engine. */
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

t.test('a pattern that gets nowhere finds too much rather than too little', async (t) => {
  const rule = patternRule('evil', 'a(?:.*z)?', '[evil]');
  const found = rule.find('a'.repeat(1 << 17));
  t.equal(found[0], 0);
  t.equal(found.at(-1), 1 << 17);
  for (let at = 2; at < found.length; at += 2) if (found[at] !== found[at - 1]) t.fail('a gap');
});

t.test('the largest body is worked through', async (t) => {
  const scene = new Scene();
  const processor = scene.processor({
    redact: [...PRESET_NAMES.map((preset) => ({ preset })), { name: 'ticket', pattern: 'TCK-[0-9]{6}' }],
  });
  const body = `${'sk-4-a@'.repeat(2_300_000)} TCK-123456`;
  const batch = scene.process(processor, SIGNAL_LOGS, logs({ body: { stringValue: body } }), 'protobuf');
  t.notMatch(scene.tables.text(batch).slice(-2000), /TCK-123456/);
});
