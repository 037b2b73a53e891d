/**
 * The list of commands, in the order of the help. The code of a command is loaded when it is chosen, so that
 * the list of help does not wait for a database client.
 */
import type { Command, CommandEntry } from './command.ts';

/** What the code of commands exports: one command, or several by the last word of their names. */
type CommandFile = { readonly command: Command } | { readonly commands: Readonly<Record<string, Command>> };

/** `line`: the name and the arguments besides options, as they are typed. */
function entry(line: string, summary: string, open: () => Promise<CommandFile>): CommandEntry {
  const [, name = '', words] = /^([^<[]*[^<[ ])(?: (.*))?$/u.exec(line) ?? [];
  const load = async (): Promise<Command> => {
    const file = await open();
    return 'command' in file ? file.command : (file.commands[name.split(' ').at(-1) ?? ''] as Command);
  };
  return { name, summary, load, ...(words === undefined ? {} : { words }) };
}

export const COMMANDS: readonly CommandEntry[] = [
  entry('run', 'Run the pipeline (the default)', () => import('./run.ts')),
  entry('validate', 'Check a configuration without starting anything', () => import('./validate.ts')),
  {
    ...entry('print-config', 'Print the effective configuration', () => import('./print-config.ts')),
    aliases: ['print-initial-config'],
  },
  entry('components', 'List the components that a configuration can use', () => import('./components.ts')),
  entry('init [FILE]', 'Write a commented configuration to begin with', () => import('./init.ts')),
  entry('status', 'Show the state of the running daemon', () => import('./status.ts')),
  entry('tap', 'Show what the running daemon stores and refuses now', () => import('./tap.ts')),
  entry('reload', 'Let the running daemon load its configuration again', () => import('./reload.ts')),
  entry('console', 'Print a link that logs in to the console', () => import('./console.ts')),
  entry('mcp', 'Serve stored telemetry to coding agents by the Model Context Protocol', () => import('./mcp.ts')),
  entry('migrate', 'Migrate the database schema to this version', () => import('./migrate.ts')),
  entry('backup <FILE>', 'Write all stored data to one file, while the daemon runs', () => import('./backup.ts')),
  entry('restore <FILE>', 'Read a backup into an empty database', () => import('./restore.ts')),
  entry('move', 'Copy all stored data into another database, and switch to it', () => import('./move.ts')),
  entry('archive', 'Write days that have ended as Parquet files, verified', () => import('./archive.ts')),
  entry('compact', 'Publish the records of objects as Parquet files, verified', () => import('./compact.ts')),
  entry('restore-day <DAY>', 'Bring an archived day back into PostgreSQL', () => import('./restore-day.ts')),
  entry('size', 'Estimate cores, memory, disk and cost for a rate and a retention', () => import('./size.ts')),
  entry('prune', 'Remove a trace, a period, an environment or a project now', () => import('./prune.ts')),
  entry('project create <NAME>', 'Create a project', () => import('./project.ts')),
  entry('project list', 'List projects with their plan and their usage of this month', () => import('./project.ts')),
  entry('project set-plan <NAME>', 'Change the plan or quota of a project', () => import('./project.ts')),
  entry('key create', 'Create an API key and print it once', () => import('./key.ts')),
  entry('key list', 'List API keys, without their secrets', () => import('./key.ts')),
  entry('key revoke <ID>', 'Revoke an API key; it is refused everywhere within 5 seconds', () => import('./key.ts')),
  entry(
    'environment set <PROJECT> <ENVIRONMENT>',
    'Switch content capture for one environment of a project',
    () => import('./environment.ts'),
  ),
  entry('environment list', 'List the settings of environments', () => import('./environment.ts')),
  entry('person list', 'List the people of the console', () => import('./person.ts')),
  entry('person remove <NAME>', 'Remove a person and end their sessions', () => import('./person.ts')),
  entry('traces', 'List traces, newest first', () => import('./traces.ts')),
  entry('trace <ID>', 'Show one trace: its spans with duration, tokens and cost', () => import('./trace.ts')),
  entry('span <ID>', 'Show one span: messages, columns, attributes, events, links', () => import('./span.ts')),
  entry(
    'conversation <ID>',
    'Show a conversation across its traces, each message once',
    () => import('./conversation.ts'),
  ),
  entry('export', 'Write stored rows as NDJSON, CSV or OTLP', () => import('./export.ts')),
  entry(
    'explain <FILE|TRACE>',
    'Show which attribute filled which column, and how the cost came about',
    () => import('./explain.ts'),
  ),
  entry('usage', 'Sum up model calls, tokens and cost', () => import('./usage.ts')),
  entry('outbox list', 'List the requests that wait to be forwarded, by destination', () => import('./outbox.ts')),
  entry('outbox dead', 'List dead letters: requests that a remote refused, newest first', () => import('./outbox.ts')),
  entry(
    'outbox show <SEQUENCE>',
    'Show one request of the outbox, with its body as OTLP/JSON',
    () => import('./outbox.ts'),
  ),
  entry('outbox replay [SEQUENCE]', 'Send dead letters again, in their original order', () => import('./outbox.ts')),
  entry('outbox drop [SEQUENCE]', 'Delete requests from the outbox', () => import('./outbox.ts')),
  entry('prices check <MODEL>', 'Explain the cost of a model call', () => import('./prices.ts')),
  entry('prices set [ID]', 'Store a price of your own', () => import('./stored-prices.ts')),
  entry('prices list', 'List stored prices, in order of precedence', () => import('./stored-prices.ts')),
  entry('prices remove <ID>', 'Remove a stored price', () => import('./stored-prices.ts')),
  entry('demo', "Send a small AI application's telemetry to a running daemon", () => import('./demo.ts')),
  entry('bench', 'Measure this installation: spans a second, latency, cores, disk', () => import('./bench.ts')),
  entry('completion <SHELL>', 'Print a completion script for a shell', () => import('./completion.ts')),
];

/** Runs when no command is given. */
export const DEFAULT_COMMAND = 'run';

/** Commands that the daemon runs, without a place in the help. */
export const OWN_COMMANDS: readonly CommandEntry[] = [
  entry(
    'archived-trace <TRACE>',
    'Answer requests of the console for an archived trace',
    () => import('./archived-commands.ts'),
  ),
  entry(
    'archived-usage <PROJECT> <FROM> <UNTIL>',
    'Answer requests of the console for the usage of archived days',
    () => import('./archived-commands.ts'),
  ),
  entry(
    'archived-traces <PROJECT> <FROM> <UNTIL>',
    'Answer requests of the console for traces and log records of archived days',
    () => import('./archived-commands.ts'),
  ),
  entry(
    'archived-conversation <PROJECT>',
    'Answer requests of the console for a conversation of archived days',
    () => import('./archived-commands.ts'),
  ),
  entry(
    'archived-metrics <PROJECT> <FROM> <UNTIL>',
    'Answer requests of the console for metrics of archived days',
    () => import('./archived-commands.ts'),
  ),
];
