// Runs several test files in one process, one after the other: `node scripts/test-files.js <file> <file> …`. Starting
// Node.js and loading tap and the modules of the product takes longer than the tests of most files. Each file is a test
// of the report, with the path as its name.
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const IDLE_CHECK_MS = 5;
const paths = process.argv.slice(2);
// tap names the folders of fixtures after the arguments. Two processes must not have the same name.
process.argv.splice(1, process.argv.length, paths[0]);
const { default: t, beginFile } = await import('../dist/node_modules/tap/index.js');
const root = t.test.bind(t);

for (const path of paths) {
  await root(path, async (file) => {
    beginFile(file);
    await import(pathToFileURL(resolve(path)).href);
    // All tests that the file has at its top level are over. tap's event `idle` is not emitted for each of them.
    while (!file.idle) await setTimeout(IDLE_CHECK_MS);
    if (file.count === 0) file.fail('the file holds no test');
  });
}
