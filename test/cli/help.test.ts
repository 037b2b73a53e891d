/** Help texts fit the terminal, and say the same in every width. */
import t from 'tap';
import { COMMANDS } from '../../src/cli/commands.ts';
import { widthOf } from '../../src/cli/view/screen-text.ts';
import { folderOf } from '../support/config-files.ts';
import { sluice } from '../support/command-line.ts';

const place = { folder: folderOf({}), env: { NO_COLOR: '1' } };
const withoutSpace = (text: string): string => text.replaceAll(/\s+/gu, '');
const isExample = (line: string): boolean => /^ {2}(?:\S.*)?\bsluice\b|^ {2}#/u.test(line);

t.test('no line is wider than the terminal, except examples', async (t) => {
  const pages = [['--help'], ...COMMANDS.map(({ name }) => [...name.split(' '), '--help'])];
  for (const page of pages) {
    const { out: whole } = await sluice(page, place);
    for (const columns of [72, 80]) {
      const { out } = await sluice(page, { ...place, columns });
      const wide = out.split('\n').filter((line) => widthOf(line) > columns && !isExample(line));
      t.same(wide, [], `${page.join(' ')}, ${columns} columns`);
      t.equal(withoutSpace(out), withoutSpace(whole), `${page.join(' ')}, ${columns} columns: the words`);
    }
  }
});
