/** `sluice reload`: the running daemon loads its configuration again, and the command says whether it did. */
import { UserError } from '../errors.ts';
import type { ReloadOutcome } from '../daemon/reloads.ts';
import type { Status } from '../service/telemetry/status.ts';
import type { Command } from './command.ts';
import { ask, DAEMON_OPTIONS, findDaemonSocket } from './running-daemon.ts';
import { flagOption } from './options.ts';

export const command: Command = {
  description:
    'Waits until the daemon runs the new configuration. If that has a mistake, or a component that does not start, the\ndaemon keeps the old one, and the command prints the problems and exits with 1. The daemon is that of --config, or\nelse that of this folder.',
  options: { ...DAEMON_OPTIONS, json: flagOption('Print JSON') },
  examples: [
    ['sluice reload', 'after a change of the configuration'],
    ['sluice reload --config /etc/sluice.yaml', 'the daemon with this configuration'],
  ],
  async run(call) {
    const socket = await findDaemonSocket(call);
    const { pid, configuration } = (await ask(socket, 'status')) as Status;
    const { loaded, problems } = (await ask(socket, 'reload')) as ReloadOutcome;
    if (call.values.flag('json')) {
      call.terminal.print(JSON.stringify({ pid, configuration, loaded, problems }, null, 2));
      return loaded ? 0 : 1;
    }
    if (!loaded)
      throw new UserError(`the configuration was not loaded; the running one stays in use\n${problems.join('\n')}`);
    call.terminal.print(`The daemon with pid ${pid} has loaded ${configuration.join(' and ')} again.`);
  },
};
