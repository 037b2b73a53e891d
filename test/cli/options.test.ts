import t from 'tap';
import { firstWord, type Options, parseWords, UsageError } from '../../src/cli/options.ts';
import { layOut, makeStyle, wantsColour } from '../../src/cli/terminal.ts';

const OPTIONS = {
  config: { type: 'list', short: 'c', value: 'FILE', description: 'Files.' },
  by: { type: 'text', value: 'WORD', description: 'One word.' },
  json: { type: 'flag', description: 'JSON.' },
} as const satisfies Options;

t.test('options are parsed in all forms, and words keep their order', async (t) => {
  const { values, words } = parseWords(
    ['a', '--config', 'x', '--config=y', '-c', 'z', '-json', 'b', '--', '--by'],
    OPTIONS,
  );
  t.same(values.list('config'), ['x', 'y', 'z']);
  t.equal(values.flag('json'), true);
  t.equal(values.text('by'), undefined);
  t.same(words, ['a', 'b', '--by']);
});

t.test('a value may begin with a dash or hold an equals sign', async (t) => {
  t.equal(parseWords(['--by', '-1'], OPTIONS).values.text('by'), '-1');
  t.equal(parseWords(['--by', '--zzz'], OPTIONS).values.text('by'), '--zzz');
  t.equal(parseWords(['--by=--json'], OPTIONS).values.text('by'), '--json');
  t.equal(parseWords(['--by=a=b'], OPTIONS).values.text('by'), 'a=b');
});

t.test('an option that is not given has its default', async (t) => {
  const { values } = parseWords([], { by: { ...OPTIONS.by, default: 'model' } });
  t.equal(values.text('by'), 'model');
  t.equal(values.word('by'), 'model');
  t.equal(values.flag('by'), false);
});

t.test('short options take their value with or without an equals sign', async (t) => {
  t.same(parseWords(['-c=x', '-cy', '-c', '-z'], OPTIONS).values.list('config'), ['x', 'y', '-z']);
  t.equal(firstWord(['-c', 'x', '--config=y', '--json', 'usage', '--by', 'z'], OPTIONS), 4);
  t.equal(firstWord(['--', '--by'], OPTIONS), 1);
  t.equal(firstWord(['--by', 'x'], OPTIONS), 2);
});

t.test('an invalid argument is a usage error with a hint', async (t) => {
  const refuse = (words: readonly string[], expected: { message: string; hint?: string | null }) =>
    t.throws(() => parseWords(words, OPTIONS), expected);
  refuse(['--confg', 'x'], { message: 'unknown option --confg', hint: 'did you mean "--config"?' });
  refuse(['--zzz'], { message: 'unknown option --zzz', hint: 'Use --help to list the options.' });
  refuse(['--json=1'], { message: '--json takes no value' });
  refuse(['--config'], { message: '--config needs a value', hint: 'as --config FILE' });
  refuse(['--config='], { message: '--config needs a value', hint: 'as --config FILE' });
  refuse(['--by', ''], { message: '--by needs a value', hint: 'as --by WORD' });
  refuse(['--by', '--json'], { message: '--by needs a value', hint: 'as --by WORD' });
  refuse(['--by', '--config=x'], { message: '--by needs a value', hint: 'as --by WORD' });
  refuse(['--by', 'a', '--by', 'b'], { message: '--by is given twice' });
  refuse(['--constructor'], { message: 'unknown option --constructor' });
  t.throws(() => parseWords(['-x'], OPTIONS), new UsageError('unknown option -x', 'Use --help to list the options.'));
});

t.test('colours need a terminal, and can be disabled', async (t) => {
  t.equal(wantsColour({ env: {} }, { isTTY: true }), true);
  t.equal(wantsColour({ env: {} }, {}), false);
  t.equal(wantsColour({ env: { NO_COLOR: '1' } }, { isTTY: true }), false);
  t.equal(wantsColour({ env: { NO_COLOR: '' } }, { isTTY: true }), true);
  t.equal(wantsColour({ env: { TERM: 'dumb' } }, { isTTY: true }), false);
  t.equal(wantsColour({ env: { FORCE_COLOR: '1' } }, {}), true);
  t.equal(makeStyle(false).red('x'), 'x');
  t.equal(makeStyle(true).red('x'), '\u001b[31mx\u001b[0m');
});

t.test('columns are as wide as their widest cell', async (t) => {
  t.equal(
    layOut(
      [
        ['a', 'bb'],
        ['ccc', 'd'],
      ],
      ' ',
    ),
    ' a    bb\n ccc  d',
  );
});
