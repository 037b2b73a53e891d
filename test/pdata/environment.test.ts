// The environment that a text of a sender names.
import t from 'tap';
import { environmentNamed, LONGEST_ENVIRONMENT } from '../../src/pdata/environment.ts';

t.test('it is trimmed, in lower case, cut, and without U+0000', async (t) => {
  const most = 'a'.repeat(LONGEST_ENVIRONMENT);
  for (const [text, environment] of [
    [' Production\t', 'production'],
    [' \n', ''],
    ['a\0B', 'a\ufffdb'],
    [`${most}b`, most],
    [`${most.slice(1)}😀`, most.slice(1)],
    [`${most.slice(2)}😀`, `${most.slice(2)}😀`],
  ] as const)
    t.equal(environmentNamed(text), environment);
});
