/** The visible list of commands, in the order of the help. */
import type { Command } from './command.ts';
import { components } from './components.ts';
import { environmentList, environmentSet } from './environment.ts';
import { keyCreate, keyList, keyRevoke } from './key.ts';
import { migrateCommand } from './migrate.ts';
import { printConfig } from './print-config.ts';
import { projectCreate, projectList, projectSetPlan } from './project.ts';
import { run } from './run.ts';
import { validate } from './validate.ts';

export const COMMANDS: readonly Command[] = [
  run,
  validate,
  printConfig,
  components,
  migrateCommand,
  projectCreate,
  projectList,
  projectSetPlan,
  keyCreate,
  keyList,
  keyRevoke,
  environmentSet,
  environmentList,
];

/** What runs when no command is named. */
export const DEFAULT_COMMAND: Command = run;
