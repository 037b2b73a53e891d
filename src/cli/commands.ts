/** The visible list of commands, in the order of the help. */
import type { Command } from './command.ts';
import { components } from './components.ts';
import { demoCommand } from './demo.ts';
import { environmentList, environmentSet } from './environment.ts';
import { keyCreate, keyList, keyRevoke } from './key.ts';
import { migrateCommand } from './migrate.ts';
import { outboxDead, outboxDrop, outboxList, outboxReplay, outboxShow } from './outbox.ts';
import { pricesCheck } from './prices.ts';
import { printConfig } from './print-config.ts';
import { projectCreate, projectList, projectSetPlan } from './project.ts';
import { run } from './run.ts';
import { traceCommand } from './trace.ts';
import { tracesCommand } from './traces.ts';
import { usageCommand } from './usage.ts';
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
  tracesCommand,
  traceCommand,
  usageCommand,
  outboxList,
  outboxDead,
  outboxShow,
  outboxReplay,
  outboxDrop,
  pricesCheck,
  demoCommand,
];

/** What runs when no command is named. */
export const DEFAULT_COMMAND: Command = run;
