// Bundles tap into one file. Node resolves about 350 files when it imports the package, in each process with tests.
// `node scripts/bundle-tap.js <folder>` writes the package into a folder `node_modules/tap` between the compiled tests
// and the installed packages, where Node finds it first.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = process.argv[2];
const MANIFEST = { name: 'tap', type: 'module', exports: './index.js' };
/**
 * tap leaves itself out of stack traces by the names of its packages. The bundle is none of them. `t` is tap's own, or
 * the test of the file that is being run, where several files share a process (scripts/test-files.js).
 */
const ENTRY = `
  import { addIgnoredPackage } from '@tapjs/stack';
  import root from 'tap';
  addIgnoredPackage('tap');
  let file = root;
  export function beginFile(test) {
    file = test;
  }
  export default new Proxy(root, {
    get(_, key) {
      const value = file[key];
      return typeof value === 'function' ? value.bind(file) : value;
    },
  });`;

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
