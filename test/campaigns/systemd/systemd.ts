/** The notifications of the executable to systemd, recorded by a program in place of `systemd-notify`. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { FILE_CONFIG } from '../../support/daemon.ts';
import { type Executable, openFolder, startExecutable } from '../../support/executable.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

t.setTimeout(300_000);

const RECORDER =
  '#!/bin/sh\n[ "$#" -gt 0 ] && printf "%s|" "$@" >>"$NOTIFY_SOCKET.log" && printf "\\n" >>"$NOTIFY_SOCKET.log"\n';

interface Scene {
  readonly daemon: Executable;
  readonly folder: string;
  told(): readonly string[];
  /** Resolves with all notifications once `times` of them begin with `start`. */
  until(start: string, times?: number): Promise<readonly string[]>;
}

type Tap = { teardown(task: () => Promise<void> | void): unknown };

/** `program` is the text of `systemd-notify`; null: there is no such program. */
function start(t: Tap, program: string | null, env: Readonly<Record<string, string>> = {}): Scene {
  const folder = openFolder(t);
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  if (program !== null) {
    writeFileSync(join(bin, 'systemd-notify'), program);
    chmodSync(join(bin, 'systemd-notify'), 0o755);
  }
  writeFileSync(join(folder, 'sluice.yaml'), FILE_CONFIG.replaceAll('{folder}', folder));
  const socket = join(folder, 'socket');
  const daemon = startExecutable(['--config', 'sluice.yaml'], folder, { PATH: bin, NOTIFY_SOCKET: socket, ...env });
  t.teardown(() => void daemon.child.kill('SIGKILL'));
  const told = (): readonly string[] =>
    existsSync(`${socket}.log`) ? readFileSync(`${socket}.log`, 'utf8').split('\n').slice(0, -1) : [];
  const until = async (start: string, times = 1): Promise<readonly string[]> => {
    const enough = async () => (told().filter((line) => line.startsWith(start)).length >= times ? true : undefined);
    if ((await waitFor(enough, { timeoutMs: PATIENCE_MS })) !== true) throw new Error(`not told: ${start}`);
    return told();
  };
  return { daemon, folder, told, until };
}

const READY = 'READY=1|STATUS=ready: traces, logs, metrics|';
const RELOADING = 'RELOADING=1|STATUS=loading the configuration again|';

t.test(
  'systemd is notified of the start, of successful and failed reloads, and of the stop, in this order',
  async (t) => {
    const { daemon, folder, told, until } = start(t, RECORDER);
    t.strictSame(await until('READY=1'), [READY]);
    daemon.child.kill('SIGHUP');
    t.strictSame(await until('READY=1', 2), [READY, RELOADING, READY]);
    writeFileSync(join(folder, 'sluice.yaml'), 'receivers: [');
    daemon.child.kill('SIGHUP');
    await until('READY=1', 3);
    daemon.child.kill('SIGTERM');
    t.equal(await daemon.ended, 0);
    t.strictSame(told(), [READY, RELOADING, READY, RELOADING, READY, 'STOPPING=1|STATUS=stopping|']);
  },
);

t.test('a daemon with a watchdog notifies it repeatedly', async (t) => {
  const { daemon, until } = start(t, RECORDER, { WATCHDOG_USEC: '400000' });
  const told = await until('WATCHDOG=1|STATUS=ready: traces, logs, metrics|', 3);
  t.equal(told[0], READY, 'not before READY');
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
});

t.test('a daemon does not notify the watchdog of another process', async (t) => {
  const { daemon, told, until } = start(t, RECORDER, { WATCHDOG_USEC: '200000', WATCHDOG_PID: '1' });
  await until('READY=1');
  for (let reload = 2; reload <= 4; reload++) {
    daemon.child.kill('SIGHUP');
    await until('READY=1', reload);
  }
  t.strictSame(
    told().filter((line) => line.startsWith('WATCHDOG')),
    [],
  );
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
});

for (const [what, program] of [
  ['is missing', null],
  ['fails', '#!/bin/sh\nexit 1\n'],
] as const) {
  t.test(`when the program ${what}, one warning is logged and the daemon continues`, async (t) => {
    const { daemon } = start(t, program, { WATCHDOG_USEC: '200000' });
    await daemon.until('the state could not be reported to systemd');
    daemon.child.kill('SIGHUP');
    await daemon.until('the configuration was loaded again');
    daemon.child.kill('SIGTERM');
    t.equal(await daemon.ended, 0);
    t.equal(daemon.output.err.split('the state could not be reported to systemd').length - 1, 1);
  });
}
