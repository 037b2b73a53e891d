/** `sluice validate`: checks a configuration. Prints nothing when it is valid. */
import type { Command } from './command.ts';
import { CONFIG_OPTIONS, readConfig } from './config-options.ts';

export const validate: Command = {
  description:
    'Prints nothing and exits 0 when the configuration is valid; otherwise prints every problem with its file, line\nand column, and exits 1. Warnings go to standard error and do not change the exit code.',
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice validate', 'check config/sluice.yaml'],
    ['sluice validate --config base.yaml --config production.yaml', 'check two files merged'],
  ],
  async run(call) {
    const { warnings } = await readConfig(call);
    for (const warning of warnings) call.terminal.say(warning);
    return 0;
  },
};
