/** The files that are generated from the schemas are current, and the shipped configurations are valid. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import t from 'tap';
import { parse } from 'yaml';
import { COMPONENTS } from '../../src/components.ts';
import { editorSchema } from '../../src/config/editor-schema.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { referenceYaml } from '../../src/config/reference.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');
const ENVIRONMENT = {
  SLUICE_KEY: 'a-key-of-thirty-two-characters-00',
  DATABASE_URL: 'postgres://user:word@host:5432/db',
};
const SCHEMAS = new CompiledSchemas();
const forEditors = new Ajv({ strict: false }).compile(editorSchema(COMPONENTS));
const SHIPPED = ['sluice', 'sidecar', 'gateway', 'reference'];

t.test('config/reference.yaml is current; if not, run `npm run docs`', async (t) => {
  t.equal(read('config/reference.yaml'), referenceYaml(COMPONENTS));
});

t.test('config/schema.json is current; if not, run `npm run docs`', async (t) => {
  t.equal(read('config/schema.json'), `${JSON.stringify(editorSchema(COMPONENTS), null, 2)}\n`);
});

for (const name of SHIPPED) {
  t.test(`config/${name}.yaml is valid, without a warning, for the daemon and for editors`, async (t) => {
    const config = await loadConfig({
      files: [`config/${name}.yaml`],
      definitions: COMPONENTS,
      environment: ENVIRONMENT,
      workingDirectory: ROOT,
      schemas: SCHEMAS,
    });
    t.same(config.warnings, []);
    t.ok(forEditors(parse(read(`config/${name}.yaml`))), JSON.stringify(forEditors.errors));
  });
}
