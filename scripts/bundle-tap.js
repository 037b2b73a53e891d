// Bundles tap into one file. Node resolves about 350 files when it imports the package, and each of the test files is a
// process of its own: a fifth of their processor time. `node scripts/bundle-tap.js <folder>` writes the package into a
// folder `node_modules/tap` between the compiled tests and the installed packages, where Node finds it first.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = process.argv[2];
const MANIFEST = { name: 'tap', type: 'module', exports: './index.js' };
/** tap leaves itself out of stack traces by the names of its packages. The bundle is none of them. */
const ENTRY = `
  import { addIgnoredPackage } from '@tapjs/stack';
  addIgnoredPackage('tap');
  export * from 'tap';
  export { default } from 'tap';`;

await build({
  stdin: { contents: ENTRY, resolveDir: fileURLToPath(new URL('../node_modules/tap', import.meta.url)) },
  outfile: join(folder, 'index.js'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  // Packages in CommonJS call `require`.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
});
writeFileSync(join(folder, 'package.json'), JSON.stringify(MANIFEST));
