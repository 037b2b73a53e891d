/** `sluice validate`: checks a configuration. */
import type { Command } from './command.ts';
import { CONFIG_OPTIONS, configFiles, readConfig } from './config-options.ts';

export const command: Command = {
  description:
    'Names the checked files and exits 0 when the configuration is valid; otherwise prints every problem with its file,\nline and column, and exits 1. Warnings go to standard error and do not change the exit code.',
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice validate', 'check the configuration of this folder'],
    ['sluice validate --config base.yaml --config production.yaml', 'check two files merged'],
  ],
  async run(call) {
    const { warnings } = await readConfig(call);
    for (const warning of warnings) call.terminal.say(warning);
    const files = configFiles(call);
    call.terminal.print(`${files.join(' and ')}${files.length > 1 ? ', merged:' : ':'} the configuration is valid.`);
  },
};
