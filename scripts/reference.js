// Writes the files that are generated from the components' schemas: config/schema.json, config/reference.yaml, and the
// tables of options in the documentation. `--check` only compares.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { COMPONENTS } from '../dist/src/components.js';
import { editorSchema } from '../dist/src/config/editor-schema.js';
import { referenceYaml } from '../dist/src/config/reference.js';
import { withTables } from './option-tables.js';

const root = new URL('../', import.meta.url);
const documents = [
  'README.md',
  'docs/configuration.md',
  ...readdirSync(new URL('src/', root), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('README.md'))
    .map((path) => `src/${path}`),
];
const files = {
  'config/schema.json': `${JSON.stringify(editorSchema(COMPONENTS), null, 2)}\n`,
  'config/reference.yaml': referenceYaml(COMPONENTS),
  ...Object.fromEntries(
    documents.map((path) => [path, withTables(readFileSync(new URL(path, root), 'utf8'), COMPONENTS)]),
  ),
};
for (const [path, text] of Object.entries(files)) {
  const url = new URL(path, root);
  if (process.argv.includes('--check')) {
    if (readFileSync(url, 'utf8') === text) continue;
    process.stderr.write(`${path} is not current: run \`npm run docs\`\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(url, text);
  }
}
