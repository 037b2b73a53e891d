/** The interface of a command. A new command is a file that exports a `Command`, and an entry in `commands.ts`. */
import type { Options, Values } from './options.ts';
import type { Terminal } from './terminal.ts';

/** 0: done · 1: failed · 2: wrong usage. */
export type ExitCode = 0 | 1 | 2;

export interface Call {
  readonly values: Values;
  /** The arguments that are not options. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  /** The real process. A command gets its environment only from here. */
  readonly process: NodeJS.Process;
  /** All commands, for help and completion. */
  readonly commands: readonly CommandEntry[];
}

export interface Command {
  /** As typed; two words for a command of a group, such as `key create`. */
  readonly name: string;
  /** Other accepted names. */
  readonly aliases?: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** The arguments besides options, such as `<ID>`; empty for none. */
  readonly words?: string;
  /** The maximum number of arguments; default 0. */
  readonly maxWords?: number;
  readonly options: Options;
  /** One or two paragraphs below the usage line. */
  readonly description?: string;
  /** Complete command lines with their effect. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  run(call: Call): Promise<ExitCode>;
}

/** The facts for choosing and listing a command. */
export interface CommandEntry extends Pick<Command, 'name' | 'aliases' | 'words' | 'summary'> {
  load(): Promise<Command>;
}
