/** docs/sizing.md shows the ratios of the code, and the real output of its example. */
import t from 'tap';
import { RATIOS } from '../../src/cli/sizing.ts';
import { sluice } from '../support/command-line.ts';
import { codeBlocks, read, section, tableIn } from './markdown.ts';

const text = read('docs/sizing.md');

t.test('the table of ratios is current; if not, run `npm run docs`', async (t) => {
  t.same(
    tableIn(section(text, '## The ratios')),
    Object.values(RATIOS).map(({ what, value, unit, source }) => [what, `${value} ${unit}`, source]),
  );
});

t.test('every source is explained', async (t) => {
  const explained = [...text.matchAll(/^- \*\*(\w+)\*\*: /gmu)].map(([, name]) => name);
  t.same(
    [...new Set(Object.values(RATIOS).map(({ source }) => source))].filter((name) => !explained.includes(name)),
    [],
  );
});

t.test('the example prints what the page shows', async (t) => {
  const [command = ''] = codeBlocks(text, 'sh');
  const [shown = ''] = codeBlocks(text, 'text');
  const { out, code } = await sluice(command.trim().split(' ').slice(1), { folder: t.testdir() });
  t.equal(code, 0);
  t.equal(out, shown);
});
