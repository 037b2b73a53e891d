/** The V8 flag of the heap growth. `bench/intake.ts` measures its effect. */
import { spawnSync } from 'node:child_process';
import t from 'tap';

t.test('this engine knows the flag: an unknown flag is reported on standard error', async (t) => {
  const module = new URL('../../src/daemon/heap.js', import.meta.url).href;
  const source = `import { letHeapGrow } from ${JSON.stringify(module)}; letHeapGrow(); console.log('set');`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', source], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  t.equal(stdout, 'set\n');
  t.equal(stderr, '');
});
