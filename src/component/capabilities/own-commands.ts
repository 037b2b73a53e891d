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
}

export const OWN_COMMANDS: Capability<OwnCommands> = { name: 'own-commands' };
