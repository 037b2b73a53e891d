/** The files that `npm run docs` makes from the column catalogue are current. */
import { readFileSync } from 'node:fs';
import t from 'tap';

const ROOT = new URL('../../../', import.meta.url);

interface Script {
  columnFiles(): Promise<Readonly<Record<string, string>>>;
}

t.test('what follows from the catalogue is as the script makes it', async (t) => {
  const script = (await import(new URL('scripts/columns.js', ROOT).href)) as Script;
  const files = Object.entries(await script.columnFiles());
  t.equal(files.length, 6);
  for (const [path, text] of files) {
    t.ok(readFileSync(new URL(path, ROOT), 'utf8') === text, `${path} is current; else run \`npm run docs\``);
  }
});
