/** The page of the command line equals the declarations of the commands. */
import t from 'tap';
import { COMMANDS } from '../../src/cli/commands.ts';
import { read, ROOT } from './markdown.ts';

const { cliReference } = (await import(`file://${ROOT}scripts/cli-reference.js`)) as {
  cliReference(): Promise<string>;
};

t.test('docs/cli.md is current; if not, run `npm run docs`', async (t) => {
  t.equal(read('docs/cli.md'), await cliReference());
});

t.test('docs/cli.md has a section with options and an example for every command', async (t) => {
  const sections = read('docs/cli.md').split('\n## sluice ').slice(1);
  t.same(
    sections.map((section) => section.split('\n')[0]),
    COMMANDS.map(({ name }) => name),
  );
  for (const section of sections) t.match(section, /\n\| `--help`, `-h` \|[\s\S]*```sh\n# .+\n.*sluice/u);
});
