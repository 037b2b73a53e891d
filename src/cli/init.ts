/** `sluice init`: writes a commented configuration to begin with, the one that runs without any. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import type { Command } from './command.ts';
import { commandLine } from './command-line.ts';
import { OWN_FILE, packagedConfig } from './config-options.ts';
import { fileFault } from '../component/file-fault.ts';

const MODE = 0o644;

export const command: Command = {
  description:
    'Writes the default configuration, with comments, to FILE (default: sluice.yaml). An existing file is never replaced.\nsluice.yaml is found by every command in its folder; another name is given with --config.',
  options: {},
  examples: [
    ['sluice init', 'write ./sluice.yaml'],
    ['sluice init /etc/sluice.yaml', 'write another file'],
  ],
  async run(call) {
    const { words, process, terminal } = call;
    const [file = OWN_FILE] = words;
    try {
      writeFileSync(resolve(process.cwd(), file), readFileSync(packagedConfig()), { flag: 'wx', mode: MODE });
    } catch (error) {
      throw explain(error as NodeJS.ErrnoException, file);
    }
    const option = file === OWN_FILE ? '' : ` --config ${file}`;
    const [validate, run] = ['validate', 'run'].map((name) => commandLine(call, `${name}${option}`));
    terminal.print(`Wrote ${file}. Next: ${validate}, then ${run}`);
  },
};

function explain(error: NodeJS.ErrnoException, file: string): UserError {
  if (error.code === 'EEXIST') return new UserError(`${file} exists already`, 'Name another file: sluice init FILE');
  return new UserError(`${file} cannot be written: ${fileFault(error)}`, 'Name another file: sluice init FILE');
}
