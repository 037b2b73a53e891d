/** `sluice run`: the daemon, in one process or several. */
import type { DaemonHost } from '../daemon/daemon-host.ts';
import { HangUps } from '../daemon/hang-ups.ts';
import { letHeapGrow } from '../daemon/heap.ts';
import { isWorker } from '../daemon/workers/messages.ts';
import type { Call, Command } from './command.ts';
import { commandLine } from './command-line.ts';
import { configWords, RUN_OPTIONS, readConfig } from './config-options.ts';
import { fileFault } from '../component/file-fault.ts';
import { describeGreeting } from './greeting.ts';
import { refuseForeignDatabase } from './foreign-database.ts';
import { UsageError, type Values } from './options.ts';
import { nameDaemons } from './running-daemon.ts';
import { wantsColour } from './terminal.ts';
import { versionOf } from '../component/version.ts';

/** Each worker needs a core and some database connections. */
const MAX_WORKERS = 64;

export const command: Command = {
  description:
    'Runs until SIGTERM or SIGINT, then finishes the requests in flight within service.shutdown_timeout; a second\nsignal ends it at once. SIGHUP loads the configuration again: unchanged components continue to run, and an\ninvalid configuration changes nothing. One process uses one core; --workers runs several processes behind the\nsame ports, which share a database.',
  options: RUN_OPTIONS,
  examples: [
    ['sluice', 'run with config/sluice.yaml'],
    ['sluice --config config/sidecar.yaml', 'run with another configuration'],
    ['sluice run --set receivers.otlp.protocols.http.endpoint=0.0.0.0:4318', 'change one option'],
    ['sluice run --workers 4', 'use four cores'],
  ],
  async run(call) {
    letHeapGrow();
    // The daemon runs on without its greeting, as without its log.
    call.process.stdout.removeAllListeners('error');
    call.process.stdout.on('error', (error) =>
      call.terminal.say(`warning: the output cannot be written: ${fileFault(error)}`),
    );
    const host = hostOf(call);
    if (isWorker(call.process)) {
      const { Worker } = await import('../daemon/workers/worker.ts');
      return call.process.exit(await new Worker(host).run());
    }
    const workers = workersOf(call.values);
    const { readFiles } = await import('../daemon/config-files.ts');
    const files = await readFiles(host, { workers });
    await refuseForeignDatabase(call, files.config);
    const { Daemon } = await import('../daemon/daemon.ts');
    const code = await new Daemon(files, host, workers).run().catch(async (error: unknown) => {
      throw await nameDaemons(error, call);
    });
    // A connection that does not close must not keep a stopped daemon alive.
    return call.process.exit(code);
  },
};

function hostOf(call: Call): DaemonHost {
  const { process, terminal } = call;
  return {
    version: versionOf(),
    process,
    hangUps: new HangUps(process),
    colourLog: wantsColour(process, process.stderr),
    configWords: configWords(call.values),
    load: (options) => readConfig(call, options),
    greet: (greeting) =>
      terminal.print(describeGreeting(greeting, (words) => commandLine(call, words), terminal.style)),
  };
}

function workersOf(values: Values): number {
  const given = values.word('workers');
  const count = /^\d{1,3}$/u.test(given) ? Number(given) : 0;
  if (count >= 1 && count <= MAX_WORKERS) return count;
  throw new UsageError(`--workers ${given} is not a number of processes`, `a whole number from 1 to ${MAX_WORKERS}`);
}
