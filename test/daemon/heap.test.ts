/** The V8 flag of the heap growth. `bench/intake.ts` measures its effect. */
import { spawnSync } from 'node:child_process';
import t from 'tap';

const MIB = 1_048_576;
const MODULE = new URL('../../src/daemon/heap.js', import.meta.url).href;

function runScript(source: string): { readonly stdout: string; readonly stderr: string } {
  const script = `import { letHeapGrow } from ${JSON.stringify(MODULE)}; letHeapGrow(); ${source}`;
  return spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
}

t.test('this engine knows the flags: an unknown flag is reported on standard error', async (t) => {
  const { stdout, stderr } = runScript("console.log('set');");
  t.equal(stdout, 'set\n');
  t.equal(stderr, '');
});

t.test('the young generation and the buffers that wait for a collection are bounded', async (t) => {
  const { stdout } = runScript(`
    import { getHeapSpaceStatistics } from 'node:v8';
    import { setImmediate as nextLoop } from 'node:timers/promises';
    let young = 0;
    let buffers = 0;
    let kept = [];
    for (let round = 0; round < 1000; round++) {
      kept = Array.from({ length: 10_000 }, (_, index) => ({ index, before: kept[index]?.index }));
      young = Math.max(young, getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size);
      await nextLoop();
    }
    for (let count = 0; count < 4000; count++) {
      new ArrayBuffer(65_536);
      buffers = Math.max(buffers, process.memoryUsage().arrayBuffers);
    }
    console.log(JSON.stringify({ young, buffers }));
  `);
  const { young, buffers } = JSON.parse(stdout) as { young: number; buffers: number };
  t.ok(young <= 16 * MIB, `${young / MIB} MiB of young generation`);
  t.ok(buffers <= 48 * MIB, `${buffers / MIB} MiB of buffers`);
});
