/**
 * The interface of a command. A new command is a file that exports a `Command`, and an entry in `commands.ts`. Help,
 * completion and docs/cli.md are made from the two.
 */
import type { CompiledSchemas } from '../config/compiled-schemas.ts';
import type { EarlyEnd } from './early-end.ts';
import type { Options, Values } from './options.ts';
import type { Terminal } from './terminal.ts';

/** 0: done · 1: failed · 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

/** The exit code of a command; nothing: 0. */
// biome-ignore lint/suspicious/noConfusingVoidType: a command that succeeds returns nothing
export type Outcome = ExitCode | void;

export interface Call {
  readonly values: Values;
  /** The arguments that are not options. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  /** The real process. A command gets its environment only from here. */
  readonly process: NodeJS.Process;
  readonly earlyEnd: EarlyEnd;
  /** All commands, for help and completion. */
  readonly commands: readonly CommandEntry[];
  /** Kept by a process that runs several commands. */
  readonly schemas?: CompiledSchemas | undefined;
}

/** What the code of a command declares. Its name, words and summary are in `commands.ts`. */
export interface Command {
  readonly options: Options;
  /** One or two paragraphs below the usage line. */
  readonly description?: string;
  /** Complete command lines with their effect; at least one. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  run(call: Call): Promise<Outcome>;
}

/** The facts for choosing and listing a command. */
export interface CommandEntry {
  /** As typed; two words for a command of a group, such as `key create`. */
  readonly name: string;
  /** Other accepted names. */
  readonly aliases?: readonly string[];
  /** The arguments besides options, such as `<ID>` or `[ID]`; left out: none. More words are refused. */
  readonly words?: string;
  /** One line for the list of commands. */
  readonly summary: string;
  load(): Promise<Command>;
}

/** A command with its entry, for help, completion and docs/cli.md. */
export type LoadedCommand = CommandEntry & Command;

export async function loadCommand(entry: CommandEntry): Promise<LoadedCommand> {
  return { ...entry, ...(await entry.load()) };
}
