/** What a command of the command line is. A new one is a file that exports a `Command`, and an entry in `commands.ts`. */
import type { Options, Values } from './options.ts';
import type { Terminal } from './terminal.ts';

/** 0: done · 1: it failed · 2: it was not called rightly. */
export type ExitCode = 0 | 1 | 2;

export interface Call {
  readonly values: Values;
  /** The words that are not options. */
  readonly words: readonly string[];
  readonly terminal: Terminal;
  /** The real process; everything a command knows of the outside comes from here. */
  readonly process: NodeJS.Process;
  /** All commands, for those that are about commands. */
  readonly commands: readonly CommandEntry[];
}

export interface Command {
  /** As typed; two words for a command of a group, as `key create`. */
  readonly name: string;
  /** Other names that work as well. */
  readonly aliases?: readonly string[];
  /** One line for the list of commands. */
  readonly summary: string;
  /** The words it takes besides options, as `<ID>`; empty for none. */
  readonly words?: string;
  /** How many words it takes at most; default 0. */
  readonly maxWords?: number;
  readonly options: Options;
  /** A paragraph or two below the usage line. */
  readonly description?: string;
  /** Whole command lines with what they do. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  run(call: Call): Promise<ExitCode>;
}

/** What choosing and listing a command needs. */
export interface CommandEntry extends Pick<Command, 'name' | 'aliases' | 'words' | 'summary'> {
  load(): Promise<Command>;
}
