/** The files that `npm run docs` makes from the column catalogue are current. */
import { readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';

const ROOT = new URL('../../../', import.meta.url);

interface Script {
  columnFiles(): Promise<Readonly<Record<string, string>>>;
  writeChanged(files: Readonly<Record<string, string>>, folder: URL): void;
}

const script = (await import(new URL('scripts/columns.js', ROOT).href)) as Script;

t.test('what follows from the catalogue is as the script makes it', async (t) => {
  const files = Object.entries(await script.columnFiles());
  t.equal(files.length, 5);
  for (const [path, text] of files) {
    t.ok(readFileSync(new URL(path, ROOT), 'utf8') === text, `${path} is current; else run \`npm run docs\``);
  }
});

t.test('a file that is current keeps its time, so that the WASM module is not built again', async (t) => {
  const folder = t.testdir({ 'same.ts': 'a', 'other.ts': 'a' });
  for (const name of ['same.ts', 'other.ts']) utimesSync(join(folder, name), 1000, 1000);
  script.writeChanged({ 'same.ts': 'a', 'other.ts': 'b' }, pathToFileURL(`${folder}/`));
  t.equal(statSync(join(folder, 'same.ts')).mtimeMs, 1_000_000);
  t.equal(readFileSync(join(folder, 'other.ts'), 'utf8'), 'b');
});
