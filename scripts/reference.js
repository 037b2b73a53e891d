// Writes config/schema.json and config/reference.yaml from the components' own schemas. `--check` only compares.
import { readFileSync, writeFileSync } from 'node:fs';
import { COMPONENTS } from '../dist/src/components.js';
import { editorSchema } from '../dist/src/config/editor-schema.js';
import { referenceYaml } from '../dist/src/config/reference.js';

const files = {
  'config/schema.json': `${JSON.stringify(editorSchema(COMPONENTS), null, 2)}\n`,
  'config/reference.yaml': referenceYaml(COMPONENTS),
};
for (const [path, text] of Object.entries(files)) {
  const url = new URL(`../${path}`, import.meta.url);
  if (process.argv.includes('--check')) {
    if (readFileSync(url, 'utf8') === text) continue;
    process.stderr.write(`${path} is not current: run \`npm run docs\`\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(url, text);
  }
}
