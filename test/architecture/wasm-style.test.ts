/** The WASM sources are formatted, and the linter finds nothing in them. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import t from 'tap';

const SCRIPT = fileURLToPath(new URL('../../../scripts/wasm-style.js', import.meta.url));

t.test('the style of the WASM sources', async (t) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], { encoding: 'utf8' });
  t.equal(status, 0, 'else run `npm run format`');
  if (status !== 0) t.comment(`${stdout}${stderr}`.slice(0, 4000));
});
