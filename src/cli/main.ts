/**
 * The entry of the command line: finds the command, runs it, sets the exit code. Mistakes of the user show no stack
 * trace.
 */
import { diskRemedy } from '../component/disk-remedy.ts';
import { StoreError } from '../object-store/object-store.ts';
import { nearest } from '../component/nearest.ts';
import type { CompiledSchemas } from '../config/compiled-schemas.ts';
import { ConfigError } from '../config/diagnostics.ts';
import { UserError } from '../errors.ts';
import { openFileLimit } from '../net/open-files.ts';
import { type CommandEntry, type ExitCode, loadCommand, type LoadedCommand } from './command.ts';
import { COMMANDS, DEFAULT_COMMAND, OWN_COMMANDS } from './commands.ts';
import { RUN_OPTIONS } from './config-options.ts';
import { EarlyEnd } from './early-end.ts';
import { commandHelp, groupHelp, overviewHelp, ROOT_OPTIONS } from './help.ts';
import { fileFault } from '../component/file-fault.ts';
import { isWorker } from '../daemon/workers/messages.ts';
import { firstWord, parseWords, UsageError } from './options.ts';
import { makeStyle, makeTerminal, type Terminal, wantsColour } from './terminal.ts';
import { versionOf } from '../component/version.ts';

const LEFTOVER_TIMEOUT_MS = 1_000;
/** The number of files of the daemon itself: files, modules and connections, before a sender connects. */
const MIN_OPEN_FILES = 256;
const RAISE_OPEN_FILES = 'Raise the limit: `ulimit -n 65536`, or LimitNOFILE=65536 in the systemd unit.';

/** `schemas`: of earlier commands of this process, which saves compiling. */
export async function main(host: NodeJS.Process, schemas?: CompiledSchemas): Promise<void> {
  const terminal = makeTerminal(host);
  const earlyEnd = new EarlyEnd(host);
  host.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (earlyEnd.hasBegun) return;
    // `sluice components | head` closes the output early, which is not an error.
    const isFault = error.code !== 'EPIPE';
    if (isFault) report(unwritable(error), host, terminal);
    earlyEnd.begin(() => host.exit(isFault ? 1 : 0));
  });
  // A daemon whose messages cannot be written runs on.
  host.stderr.on('error', () => undefined);
  try {
    checkOpenFiles();
    host.exitCode = await dispatch({ host, terminal, earlyEnd, schemas });
  } catch (error) {
    if (earlyEnd.hasBegun) return;
    host.exitCode = report(error, host, terminal);
    // Resources that a failed start left open must not keep the process alive. The timer does not either.
    setTimeout(() => host.exit(), LEFTOVER_TIMEOUT_MS).unref();
  }
}

/** With fewer open files, modules fail to load with misleading errors. */
function checkOpenFiles(): void {
  const allowed = openFileLimit();
  if (allowed !== null && allowed < MIN_OPEN_FILES)
    throw new UserError(`only ${allowed} files may be open at once`, RAISE_OPEN_FILES);
}

async function dispatch(surroundings: Surroundings): Promise<ExitCode> {
  const { host, terminal } = surroundings;
  const group = groupToDescribe(host.argv.slice(2));
  if (group !== null) return print(terminal, groupHelp(group, membersOf(group), terminal));
  const { entry, rest } = findEntry(host.argv.slice(2));
  // Checked before anything is loaded. Every other command still checks all arguments.
  if (entry.name === DEFAULT_COMMAND && isVersionAlone(rest)) return print(terminal, `sluice ${versionOf()}`);
  if (entry.name === DEFAULT_COMMAND) ignoreSignals(host);
  const command = await loadCommand(entry);
  try {
    return await perform(command, { entry, rest, ...surroundings });
  } catch (error) {
    if (!(error instanceof UsageError) || error.hint !== null) throw error;
    throw new UsageError(error.message, hintHelp(command));
  }
}

/**
 * The default action of SIGHUP would end a daemon while its code is loaded; the configuration is read afterwards. That
 * of SIGUSR1 opens the debugger of Node.js, with which every local user can run code in the daemon. A terminal and
 * systemd send all signals to the workers too, which the primary stops by messages.
 */
function ignoreSignals(host: NodeJS.Process): void {
  const stopping: readonly NodeJS.Signals[] = isWorker(host) ? ['SIGINT', 'SIGTERM'] : [];
  for (const signal of ['SIGHUP', 'SIGUSR1', ...stopping] as const) host.on(signal, () => undefined);
}

interface Surroundings {
  readonly host: NodeJS.Process;
  readonly terminal: Terminal;
  readonly earlyEnd: EarlyEnd;
  readonly schemas: CompiledSchemas | undefined;
}

interface Given extends Surroundings {
  readonly entry: CommandEntry;
  readonly rest: readonly string[];
}

async function perform(
  command: LoadedCommand,
  { entry, rest, host, terminal, earlyEnd, schemas }: Given,
): Promise<ExitCode> {
  const { values, words } = parseWords(rest, { ...command.options, ...ROOT_OPTIONS });
  if (values.flag('version')) return print(terminal, `sluice ${versionOf()}`);
  if (entry === HELP) return print(terminal, await helpOn(words, terminal));
  if (values.flag('help')) {
    const named = rest.some((word) => isNameOf(entry, word)) || entry.name !== DEFAULT_COMMAND || namesDefault(host);
    return print(terminal, named ? commandHelp(command, terminal) : overviewHelp(COMMANDS, terminal));
  }
  const extra = words[wordCount(command)];
  if (extra !== undefined)
    throw new UsageError(
      `sluice ${command.name} does not take "${extra}"`,
      'config' in command.options && YAML_FILE.test(extra) ? hintConfig(command.name, extra) : hintHelp(command),
    );
  return (await command.run({ values, words, terminal, process: host, earlyEnd, commands: COMMANDS, schemas })) ?? 0;
}

/** `<PROJECT> <ENVIRONMENT>` are two words. */
const wordCount = ({ words = '' }: CommandEntry): number => words.split(' ').filter((word) => word !== '').length;

const namesDefault = (host: NodeJS.Process): boolean => host.argv[2] === DEFAULT_COMMAND;

const isVersionAlone = (rest: readonly string[]): boolean =>
  rest.length === 1 && ['-v', '-version', '--version'].includes(rest[0] ?? '');

function print(terminal: Terminal, text: string): ExitCode {
  terminal.print(text);
  return 0;
}

const HELP: CommandEntry = {
  name: 'help',
  summary: 'Show help',
  load: async () => ({ options: {}, examples: [], run: async () => 0 }),
};

async function helpOn(words: readonly string[], terminal: Terminal): Promise<string> {
  if (words.length === 0) return overviewHelp(COMMANDS, terminal);
  return commandHelp(await loadCommand(findEntry(words).entry), terminal);
}

/** Options may precede the command: `sluice --config x.yaml validate`. */
function findEntry(input: readonly string[]): { readonly entry: CommandEntry; readonly rest: readonly string[] } {
  const at = firstWord(input, RUN_OPTIONS);
  const word = input[at] ?? DEFAULT_COMMAND;
  const before = input.slice(0, at);
  if (word === HELP.name) return { entry: HELP, rest: [...before, ...input.slice(at + 1)] };
  const two = `${word} ${input[at + 1] ?? ''}`;
  const group = COMMANDS.find((entry) => isNameOf(entry, two));
  if (group !== undefined) return { entry: group, rest: [...before, ...input.slice(at + 2)] };
  const entry = [...COMMANDS, ...OWN_COMMANDS].find((each) => isNameOf(each, word));
  if (entry !== undefined) return { entry, rest: [...before, ...input.slice(at + 1)] };
  // What follows a misspelt option may be its value.
  parseWords(before, { ...RUN_OPTIONS, ...ROOT_OPTIONS });
  throw unknownCommand(word, input[at + 1]);
}

/** `sluice key --help` and `sluice help key`; null for anything else. */
function groupToDescribe(input: readonly string[]): string | null {
  const words = input.filter((word) => word !== '--help' && word !== '-h');
  const asked = words.length < input.length || words[0] === HELP.name;
  const [name = '', ...others] = words[0] === HELP.name ? words.slice(1) : words;
  return asked && others.length === 0 && membersOf(name).length > 0 ? name : null;
}

const membersOf = (group: string): readonly CommandEntry[] =>
  COMMANDS.filter(({ name }) => name.startsWith(`${group} `));

const isNameOf = ({ name, aliases = [] }: CommandEntry, word: string): boolean =>
  name === word || aliases.includes(word);

/** What other programs call it. Only for the hint: one command has one name. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['start', 'run'],
  ['serve', 'run'],
  ['up', 'run'],
  ['check', 'validate'],
  ['lint', 'validate'],
  ['config', 'print-config'],
  ['ls', 'traces'],
  ['list', 'traces'],
  ['login', 'console'],
  ['ui', 'console'],
  ['open', 'console'],
  ['cost', 'usage'],
  ['costs', 'usage'],
  ['logs', 'tap'],
  ['tail', 'tap'],
  ['ps', 'status'],
  ['dump', 'backup'],
  ['upgrade', 'migrate'],
  ['delete', 'prune'],
]);

function unknownCommand(word: string, next: string | undefined): UsageError {
  const members = membersOf(word).map(({ name }) => name);
  if (members.length > 0) {
    const what =
      next === undefined || next.startsWith('-') ? `"${word}" is not complete` : `unknown command "${word} ${next}"`;
    return new UsageError(what, `one of ${members.join(', ')}`);
  }
  if (YAML_FILE.test(word)) return new UsageError(`unknown command "${word}"`, hintConfig(DEFAULT_COMMAND, word));
  const near =
    MEANT.get(word) ?? nearest(word, [...COMMANDS.flatMap(({ name }) => [name.split(' ')[0] ?? '', name]), HELP.name]);
  if (near === null) return new UsageError(`unknown command "${word}"`, 'see sluice --help');
  const whole = `${near} ${next}`;
  const meant = COMMANDS.some((entry) => isNameOf(entry, whole)) ? whole : near;
  return new UsageError(`unknown command "${word}"`, `did you mean "${meant}"?`);
}

/** A configuration that was given without its option. */
const YAML_FILE = /\.ya?ml$/iu;
const hintConfig = (command: string, file: string): string =>
  `a configuration is named with --config: sluice ${command} --config ${file}`;

const hintHelp = ({ name }: CommandEntry): string => `see sluice ${name} --help`;

function report(error: unknown, host: NodeJS.Process, terminal: Terminal): ExitCode {
  const red = makeStyle(wantsColour(host, host.stderr)).red('error');
  if (error instanceof ConfigError) {
    terminal.say(error.message);
    return 1;
  }
  const known = asUserError(error);
  if (known !== null) {
    terminal.say(`${red}: ${known.message}${known.hint === null ? '' : `\n  hint: ${known.hint}`}`);
    return known instanceof UsageError ? 2 : 1;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.say(`${red}: this is a fault of Sluice itself\n${trace}`);
  return 1;
}

/** A file that standard output was redirected to cannot be written. */
const unwritable = (error: NodeJS.ErrnoException): UserError =>
  new UserError(`the output cannot be written: ${fileFault(error)}`, diskRemedy(error));

/** Faults of a disk, which are never of Sluice itself. */
const DISK_FAULTS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EIO']);

/** Null: a fault of Sluice itself. */
function asUserError(error: unknown): UserError | UsageError | null {
  if (error instanceof UserError || error instanceof UsageError) return error;
  if (error instanceof StoreError)
    return new UserError(error.message, error.fault === 'absent' ? null : diskRemedy(error));
  const { code = '', syscall, path } = Object(error) as NodeJS.ErrnoException;
  if (code === 'EMFILE' || code === 'ENFILE') return new UserError('too many files are open', RAISE_OPEN_FILES);
  if (DISK_FAULTS.has(code) || (code === 'EACCES' && path !== undefined))
    return new UserError(`${path ?? 'a file'} cannot be used: ${fileFault(error)}`, diskRemedy(error));
  if (syscall === 'uv_cwd')
    return new UserError('the working directory was removed', 'Change to another one, or to the new one of this name.');
  return null;
}
