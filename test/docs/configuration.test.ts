/** The configuration fragments in the documentation are valid together with a shipped configuration. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { COMPONENTS } from '../../src/components.ts';
import { CompiledSchemas } from '../../src/config/compiled-schemas.ts';
import { loadConfig } from '../../src/config/load.ts';
import { PriceBook } from '../../src/processors/pricing/price-book.ts';
import type { PricingOptions } from '../../src/processors/pricing/options.ts';
import { codeBlocks, documents, read, ROOT } from './markdown.ts';

const SCHEMAS = new CompiledSchemas();
const SECTION = /^(extensions|receivers|processors|exporters|service):/m;

for (const path of documents().filter((path) => path !== 'README.md')) {
  for (const [index, yaml] of codeBlocks(read(path), 'yaml').entries()) {
    if (!SECTION.test(yaml)) continue;
    t.test(`${path}, configuration ${index + 1}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'));
      t.teardown(() => rmSync(folder, { recursive: true, force: true }));
      // The modules in the fragments are those of the examples.
      writeFileSync(join(folder, 'part.yaml'), yaml.replace('modules: [./', `modules: [${ROOT}docs/examples/`));
      const config = await loadConfig({
        files: [`${ROOT}config/gateway.yaml`, join(folder, 'part.yaml')],
        definitions: COMPONENTS,
        environment: { DATABASE_URL: 'postgres://host/db', SLUICE_KEY: 'a-key-of-thirty-two-characters-00' },
        workingDirectory: folder,
        schemas: SCHEMAS,
      });
      t.ok(config.service.pipelines.length > 0);
      const pricing = (parse(yaml) as { readonly processors?: { readonly pricing?: PricingOptions } } | null)
        ?.processors;
      if (pricing?.pricing !== undefined) await t.resolves(PriceBook.load(pricing.pricing));
    });
  }
}
