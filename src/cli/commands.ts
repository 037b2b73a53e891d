/**
 * The list of commands, in the order of the help. The code of a command is loaded when it is chosen, so that
 * the list of help does not wait for a database client.
 */
import type { CommandEntry } from './command.ts';

export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'Run the pipeline (the default)',
    load: async () => (await import('./run.ts')).run,
  },
  {
    name: 'validate',
    summary: 'Check a configuration without starting anything',
    load: async () => (await import('./validate.ts')).validate,
  },
  {
    name: 'print-config',
    aliases: ['print-initial-config'],
    summary: 'Print the effective configuration',
    load: async () => (await import('./print-config.ts')).printConfig,
  },
  {
    name: 'components',
    summary: 'List the components that a configuration can use',
    load: async () => (await import('./components.ts')).components,
  },
  {
    name: 'init',
    words: '[FILE]',
    summary: 'Write a commented configuration to begin with',
    load: async () => (await import('./init.ts')).initCommand,
  },
  {
    name: 'status',
    summary: 'Show the state of the running daemon',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'tap',
    summary: 'Show what the running daemon stores and refuses now',
    load: async () => (await import('./tap.ts')).tapCommand,
  },
  {
    name: 'reload',
    summary: 'Let the running daemon load its configuration again',
    load: async () => (await import('./reload.ts')).reloadCommand,
  },
  {
    name: 'console',
    summary: 'Print a link that logs in to the console',
    load: async () => (await import('./console.ts')).consoleCommand,
  },
  {
    name: 'mcp',
    summary: 'Serve stored telemetry to coding agents by the Model Context Protocol',
    load: async () => (await import('./mcp.ts')).mcpCommand,
  },
  {
    name: 'migrate',
    summary: 'Migrate the database schema to this version',
    load: async () => (await import('./migrate.ts')).migrateCommand,
  },
  {
    name: 'backup',
    words: '<FILE>',
    summary: 'Write all stored data to one file, while the daemon runs',
    load: async () => (await import('./backup.ts')).backupCommand,
  },
  {
    name: 'restore',
    words: '<FILE>',
    summary: 'Read a backup into an empty database',
    load: async () => (await import('./restore.ts')).restoreCommand,
  },
  {
    name: 'move',
    summary: 'Copy all stored data into another database, and switch to it',
    load: async () => (await import('./move.ts')).moveCommand,
  },
  {
    name: 'archive',
    summary: 'Write days that have ended as Parquet files, verified',
    load: async () => (await import('./archive.ts')).archiveCommand,
  },
  {
    name: 'compact',
    summary: 'Publish the records of objects as Parquet files, verified',
    load: async () => (await import('./compact.ts')).compactCommand,
  },
  {
    name: 'restore-day',
    words: '<DAY>',
    summary: 'Bring an archived day back into PostgreSQL',
    load: async () => (await import('./restore-day.ts')).restoreDayCommand,
  },
  {
    name: 'size',
    summary: 'Estimate cores, memory, disk and cost for a rate and a retention',
    load: async () => (await import('./size.ts')).sizeCommand,
  },
  {
    name: 'prune',
    summary: 'Remove a trace, a period, an environment or a project now',
    load: async () => (await import('./prune.ts')).pruneCommand,
  },
  {
    name: 'project create',
    words: '<NAME>',
    summary: 'Create a project',
    load: async () => (await import('./project.ts')).projectCreate,
  },
  {
    name: 'project list',
    summary: 'List projects with their plan and their usage of this month',
    load: async () => (await import('./project.ts')).projectList,
  },
  {
    name: 'project set-plan',
    words: '<NAME>',
    summary: 'Change the plan or quota of a project',
    load: async () => (await import('./project.ts')).projectSetPlan,
  },
  {
    name: 'key create',
    summary: 'Create an API key and print it once',
    load: async () => (await import('./key.ts')).keyCreate,
  },
  {
    name: 'key list',
    summary: 'List API keys, without their secrets',
    load: async () => (await import('./key.ts')).keyList,
  },
  {
    name: 'key revoke',
    words: '<ID>',
    summary: 'Revoke an API key; it is refused everywhere within 5 seconds',
    load: async () => (await import('./key.ts')).keyRevoke,
  },
  {
    name: 'environment set',
    words: '<PROJECT> <ENVIRONMENT>',
    summary: 'Switch content capture for one environment of a project',
    load: async () => (await import('./environment.ts')).environmentSet,
  },
  {
    name: 'environment list',
    summary: 'List the settings of environments',
    load: async () => (await import('./environment.ts')).environmentList,
  },
  {
    name: 'person list',
    summary: 'List the people of the console',
    load: async () => (await import('./person.ts')).personList,
  },
  {
    name: 'person remove',
    words: '<NAME>',
    summary: 'Remove a person and end their sessions',
    load: async () => (await import('./person.ts')).personRemove,
  },
  {
    name: 'traces',
    summary: 'List traces, newest first',
    load: async () => (await import('./traces.ts')).tracesCommand,
  },
  {
    name: 'trace',
    words: '<ID>',
    summary: 'Show one trace: its spans with duration, tokens and cost',
    load: async () => (await import('./trace.ts')).traceCommand,
  },
  {
    name: 'span',
    words: '<ID>',
    summary: 'Show one span: messages, columns, attributes, events, links',
    load: async () => (await import('./span.ts')).spanCommand,
  },
  {
    name: 'conversation',
    words: '<ID>',
    summary: 'Show a conversation across its traces, each message once',
    load: async () => (await import('./conversation.ts')).conversationCommand,
  },
  {
    name: 'export',
    summary: 'Write stored rows as NDJSON, CSV or OTLP',
    load: async () => (await import('./export.ts')).exportCommand,
  },
  {
    name: 'explain',
    words: '<FILE|TRACE>',
    summary: 'Show which attribute filled which column, and how the cost came about',
    load: async () => (await import('./explain.ts')).explain,
  },
  {
    name: 'usage',
    summary: 'Sum up model calls, tokens and cost',
    load: async () => (await import('./usage.ts')).usageCommand,
  },
  {
    name: 'outbox list',
    summary: 'List the requests that wait to be forwarded, by destination',
    load: async () => (await import('./outbox.ts')).outboxList,
  },
  {
    name: 'outbox dead',
    summary: 'List dead letters: requests that a remote refused, newest first',
    load: async () => (await import('./outbox.ts')).outboxDead,
  },
  {
    name: 'outbox show',
    words: '<SEQUENCE>',
    summary: 'Show one request of the outbox, with its body as OTLP/JSON',
    load: async () => (await import('./outbox.ts')).outboxShow,
  },
  {
    name: 'outbox replay',
    words: '[SEQUENCE]',
    summary: 'Send dead letters again, in their original order',
    load: async () => (await import('./outbox.ts')).outboxReplay,
  },
  {
    name: 'outbox drop',
    words: '[SEQUENCE]',
    summary: 'Delete requests from the outbox',
    load: async () => (await import('./outbox.ts')).outboxDrop,
  },
  {
    name: 'prices check',
    words: '<MODEL>',
    summary: 'Explain the cost of a model call',
    load: async () => (await import('./prices.ts')).pricesCheck,
  },
  {
    name: 'prices set',
    words: '[ID]',
    summary: 'Store a price of your own',
    load: async () => (await import('./stored-prices.ts')).pricesSet,
  },
  {
    name: 'prices list',
    summary: 'List stored prices, in order of precedence',
    load: async () => (await import('./stored-prices.ts')).pricesList,
  },
  {
    name: 'prices remove',
    words: '<ID>',
    summary: 'Remove a stored price',
    load: async () => (await import('./stored-prices.ts')).pricesRemove,
  },
  {
    name: 'demo',
    summary: "Send a small AI application's telemetry to a running daemon",
    load: async () => (await import('./demo.ts')).demoCommand,
  },
  {
    name: 'bench',
    summary: 'Measure this installation: spans a second, latency, cores, disk',
    load: async () => (await import('./bench.ts')).benchCommand,
  },
  {
    name: 'completion',
    words: '<SHELL>',
    summary: 'Print a completion script for a shell',
    load: async () => (await import('./completion.ts')).completion,
  },
];

/** Runs when no command is given. */
export const DEFAULT_COMMAND = 'run';

/** Commands that the daemon runs, without a place in the help. */
export const OWN_COMMANDS: readonly CommandEntry[] = [
  {
    name: 'archived-trace',
    words: '<TRACE>',
    summary: 'Answer requests of the console for an archived trace',
    load: async () => (await import('./archived-commands.ts')).archivedTrace,
  },
  {
    name: 'archived-usage',
    words: '<PROJECT> <FROM> <UNTIL>',
    summary: 'Answer requests of the console for the usage of archived days',
    load: async () => (await import('./archived-commands.ts')).archivedUsage,
  },
  {
    name: 'archived-traces',
    words: '<PROJECT> <FROM> <UNTIL>',
    summary: 'Answer requests of the console for traces and log records of archived days',
    load: async () => (await import('./archived-commands.ts')).archivedTraces,
  },
  {
    name: 'archived-conversation',
    words: '<PROJECT>',
    summary: 'Answer requests of the console for a conversation of archived days',
    load: async () => (await import('./archived-commands.ts')).archivedConversation,
  },
  {
    name: 'archived-metrics',
    words: '<PROJECT> <FROM> <UNTIL>',
    summary: 'Answer requests of the console for metrics of archived days',
    load: async () => (await import('./archived-commands.ts')).archivedMetrics,
  },
];
