// Writes everything in the repository that is generated, and says which files changed: config/schema.json,
// config/reference.yaml and the tables of options from the schemas of the components, docs/cli.md from the commands,
// docs/dialects.md from the dialects and the recorded senders, the ratios of docs/sizing.md, the tables of
// docs/examples/lake, and what columns.js makes. `--check` only compares.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { COMPONENTS } from '../dist/src/components.js';
import { editorSchema } from '../dist/src/config/editor-schema.js';
import { referenceYaml } from '../dist/src/config/reference.js';
import { dialectsPage } from '../dist/test/processors/normalization/sender-document.js';
import { cliReference } from './cli-reference.js';
import { columnFiles } from './columns.js';
import { lakeFiles } from './lake-ddl.js';
import { withSections, withTables } from './option-tables.js';
import { withRatios } from './sizing-table.js';

const root = new URL('../', import.meta.url);
const isCheck = process.argv.includes('--check');
const documents = [
  'README.md',
  ...['docs', 'src'].flatMap((folder) =>
    readdirSync(new URL(folder, root), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md'))
      .map((path) => `${folder}/${path}`),
  ),
];
const textOf = (path) => {
  const text = readFileSync(new URL(path, root), 'utf8');
  if (path === 'docs/sizing.md') return withRatios(text);
  return path === 'docs/configuration.md' ? withSections(text, COMPONENTS) : text;
};
const files = {
  ...Object.fromEntries(documents.map((path) => [path, withTables(textOf(path), COMPONENTS)])),
  'config/schema.json': `${JSON.stringify(editorSchema(COMPONENTS), null, 2)}\n`,
  'config/reference.yaml': referenceYaml(COMPONENTS),
  'docs/cli.md': await cliReference(),
  'docs/dialects.md': dialectsPage(),
  ...lakeFiles(),
  ...(await columnFiles()),
};
const outdated = Object.entries(files).filter(([path, text]) => {
  const url = new URL(path, root);
  return !existsSync(url) || readFileSync(url, 'utf8') !== text;
});
for (const [path, text] of outdated) {
  if (isCheck) {
    process.stderr.write(`${path} is not current: run \`npm run docs\`\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(new URL(path, root), text);
    process.stdout.write(`wrote ${path}\n`);
  }
}
if (outdated.length === 0) process.stdout.write('everything generated is current\n');
