/** `sluice run`: the daemon. */
import type { Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';

export const run: Command = {
  name: 'run',
  summary: 'Run the pipeline (the default)',
  description:
    'Runs until SIGTERM or SIGINT, then finishes the requests in flight within service.shutdown_timeout; a second\nsignal ends it at once. SIGHUP loads the configuration again: what did not change goes on without a pause, and\na configuration that is not in order changes nothing.',
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice', 'run with config/sluice.yaml'],
    ['sluice --config config/sidecar.yaml', 'run with another configuration'],
    ['sluice run --set receivers.otlp.protocols.http.endpoint=0.0.0.0:4318', 'change one option'],
  ],
  async run(call) {
    const config = await readConfig(call);
    const { Daemon } = await import('./daemon.ts');
    const daemon = new Daemon(config, call);
    const code = await daemon.run();
    // A connection that would not close must not keep a stopped daemon alive.
    return call.process.exit(code);
  },
};
