/** Where the console is. The `console` extension offers it; the daemon shows it in its greeting and its status. */
import type { Capability } from './capability.ts';

export interface ConsoleAddress {
  /** As bound. */
  readonly endpoint: string;
  /** For a browser, without a final slash; null for a Unix domain socket without `public_url`. */
  readonly url: string | null;
  readonly login: boolean;
}

export interface ConsolePlace {
  /** Null before the start. */
  address(): ConsoleAddress | null;
}

/** The `application_name` of the console's connections to PostgreSQL. */
export const CONSOLE_APPLICATION = 'sluice-console';

export const CONSOLE: Capability<ConsolePlace> = { name: 'console' };
