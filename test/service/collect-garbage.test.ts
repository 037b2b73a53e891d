/** Collections of an idle process: in a process of its own, whose compiled code is examined. */
import { spawnSync } from 'node:child_process';
import t from 'tap';

const MODULE = new URL('../../src/service/collect-garbage.js', import.meta.url).href;

interface Found {
  /** Whether the code is kept: the function makes an object, whose class has no other instance. */
  readonly isCompiled: boolean;
  readonly residentMib: number;
}

/** What is left after three collections, each of which ends before the next begins. */
function after(name: 'beginCollection' | 'collectGarbage'): Found {
  const script = `
    import { ${name} as collect } from ${JSON.stringify(MODULE)};
    import { constants, PerformanceObserver } from 'node:perf_hooks';
    class Kept { constructor(n) { this.n = n; this.next = null; } }
    const held = new Array(1000);
    function make(n) { held[n % 1000] = new Kept(n); }
    // kOptimized of OptimizationStatus in V8.
    const isCompiled = () => (%GetOptimizationStatus(make) & 16) !== 0;
    for (let attempt = 0; attempt < 10 && !isCompiled(); attempt++) {
      for (let n = 0; n < 100_000; n++) make(n);
      %OptimizeFunctionOnNextCall(make);
      make(1);
      held.fill(null);
    }
    if (!isCompiled()) throw new Error('the function is not compiled');
    let collections = 0;
    const resident = process.memoryUsage.rss();
    let most = 0;
    new PerformanceObserver((list) => {
      if (!list.getEntries().some((entry) => entry.detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR)) return;
      if (++collections < 3) return setImmediate(again);
      console.log(JSON.stringify({ isCompiled: isCompiled(), residentMib: (most - resident) / 1048576 }));
      process.exit();
    }).observe({ entryTypes: ['gc'] });
    // The end of a collection does not wake an idle event loop, in which the observer is called.
    setInterval(() => undefined, 10);
    function again() {
      collect();
      most = Math.max(most, process.memoryUsage.rss());
      setTimeout(() => process.exit(1), 60_000);
    }
    again();
  `;
  // A compilation in another thread would end at any time, and its code replaces the code that is examined.
  const args = ['--allow-natives-syntax', '--single-threaded', '--input-type=module', '--eval', script];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as Found;
}

t.test('a collection in steps keeps compiled code whose objects are gone, and takes no memory', async (t) => {
  const { isCompiled, residentMib } = after('beginCollection');
  t.ok(isCompiled);
  t.ok(residentMib < 16, `${residentMib} MiB`);
});

t.test('the control: a collection at once removes this code', async (t) => {
  t.notOk(after('collectGarbage').isCompiled);
});
