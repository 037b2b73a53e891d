/** Every campaign has an entry file and a README, is in the list, and `.ci/run` names only files that exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = join(ROOT, 'test/campaigns');
const list = readFileSync(join(FOLDER, 'README.md'), 'utf8');
const names = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

t.ok(names.length > 0, 'there are campaigns');

for (const name of names) {
  t.test(`the campaign ${name} is complete`, async (t) => {
    t.ok(existsSync(join(FOLDER, name, `${name}.ts`)), 'it has an entry file of its name');
    t.ok(list.includes(`](${name}/README.md)`), 'it is in the list');
    const readme = readFileSync(join(FOLDER, name, 'README.md'), 'utf8');
    t.match(readme, `# Campaign \`${name}\``);
    t.match(readme, `dist/test/campaigns/${name}/${name}.js`, 'its README says how to run it');
  });
}

t.test('every file that .ci/run names has a source', async (t) => {
  const script = readFileSync(join(ROOT, '.ci/run'), 'utf8');
  const files = [...script.matchAll(/\bdist\/(\S+)\.js\b/g)].map(([, path]) => `${path}.ts`);
  t.ok(files.length > 0);
  for (const file of files) t.ok(existsSync(join(ROOT, file)), file);
});
