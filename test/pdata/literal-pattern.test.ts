/** A literal part of a regular expression matches its text and no other. */
import fc from 'fast-check';
import t from 'tap';
import { literalPattern } from '../../src/pdata/literal-pattern.ts';

const SIGNS = '$()*+./?[\\]^{|}-,=!<>:&~#%@"\'` \n';
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...SIGNS, 'a', '1', '\u{1f600}', '\ud800'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});

for (const flags of ['', 'u', 's', 'su'])
  t.test(`with the flags "${flags}"`, async (t) => {
    fc.assert(
      fc.property(text, text, (wanted, other) => {
        const pattern = new RegExp(`^${literalPattern(wanted)}$`, flags);
        return pattern.test(wanted) && pattern.test(other) === (other === wanted);
      }),
      {
        examples: [
          [SIGNS, 'a'],
          ['a.c', 'abc'],
          ['a|b', 'a'],
          ['', 'a'],
        ],
      },
    );
    t.pass('every text');
  });
