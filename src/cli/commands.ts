/** The visible list of commands, in the order of the help. */
import type { Command } from './command.ts';
import { components } from './components.ts';
import { printConfig } from './print-config.ts';
import { run } from './run.ts';
import { validate } from './validate.ts';

export const COMMANDS: readonly Command[] = [run, validate, printConfig, components];

/** What runs when no command is named. */
export const DEFAULT_COMMAND: Command = run;
