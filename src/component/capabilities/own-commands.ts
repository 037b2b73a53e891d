/** Commands of Sluice as processes of their own, for work that would disturb ingest. The daemon offers it. */
import type { Capability } from './capability.ts';

export interface CommandWatch {
  /** Ends the process. */
  readonly signal: AbortSignal;
  /** A line that the command wrote for people. */
  line(text: string): void;
}

export interface OwnCommands {
  /**
   * Runs `sluice` with these words, on the configuration files of this process. Resolves with what it printed. Rejects
   * when it fails, with the last lines that it wrote.
   */
  run(words: readonly string[], watch: CommandWatch): Promise<string>;
  /**
   * As `run`, for a command that answers each line of its standard input with a line. Rejects when it cannot be
   * started.
   */
  open(words: readonly string[], watch: CommandWatch): Promise<CommandSession>;
}

export interface CommandSession {
  /** Answers come in the order of the requests. Rejects when the command ends before it answers. */
  ask(line: string): Promise<string>;
  /** Ends the input, after which the command ends. */
  end(): void;
  /** Resolves when the process has ended, in any way. */
  readonly ended: Promise<void>;
}

export const OWN_COMMANDS: Capability<OwnCommands> = { name: 'own-commands' };
