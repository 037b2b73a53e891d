/** Commands as child processes that cannot be started. */
import { spawnSync } from 'node:child_process';
import t from 'tap';

const MODULE = new URL('../../src/daemon/child-commands.js', import.meta.url).href;
/** Calls both methods, and prints their outcomes. An uncaught exception ends it with an exit code. */
const scriptOf = (host: string, before: string): string => `
  import { openSync } from 'node:fs';
  import { ChildCommands } from ${JSON.stringify(MODULE)};
  const commands = new ChildCommands({ process: ${host}, configWords: [] });
  const watch = { signal: new AbortController().signal, line: () => undefined };
  ${before}
  const outcomeOf = (done) => done.then(() => 'started', (error) => error.code);
  const run = await outcomeOf(commands.run(['archive'], watch));
  const open = await outcomeOf(commands.open(['archived-trace'], watch));
  await new Promise((resolve) => setImmediate(resolve));
  process.stdout.write(run + ' ' + open);`;
const USE_ALL_FILES = 'try { for (;;) openSync("/dev/null"); } catch {}';

function outcomesOf(host: string, before = ''): { readonly printed: string; readonly code: number | null } {
  const command = 'ulimit -n 64 && exec "$0" --input-type=module --eval "$1"';
  const { stdout, status } = spawnSync('bash', ['-c', command, process.execPath, scriptOf(host, before)], {
    encoding: 'utf8',
  });
  return { printed: stdout, code: status };
}

t.test('a command that cannot be started rejects, and does not end the process', async (t) => {
  const missing = '{ ...process, execPath: "/nonexistent", cwd: () => "/" }';
  t.same(outcomesOf(missing), { printed: 'ENOENT ENOENT', code: 0 }, 'without the program');
  t.same(outcomesOf('process', USE_ALL_FILES), { printed: 'EMFILE EMFILE', code: 0 }, 'without file descriptors');
});
