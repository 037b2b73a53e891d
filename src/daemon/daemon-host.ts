/** What the daemon and its workers need from the command that starts them. */
import type { Config } from '../config/config.ts';
import type { LoadOptions } from '../config/load.ts';
import type { HangUps } from './hang-ups.ts';

/** The project that the first start creates. */
export const FIRST_PROJECT = 'default';
/** The person that the first start invites to the console. */
export const FIRST_PERSON = 'admin';

/** 0: stopped · 1: failed. */
export type DaemonExitCode = 0 | 1;

export interface DaemonHost {
  readonly version: string;
  readonly process: NodeJS.Process;
  /** From before the configuration is read. */
  readonly hangUps: HangUps;
  /** Whether readable log lines have colours. */
  readonly colourLog: boolean;
  /** The words of the command line that name the configuration, for further commands. */
  readonly configWords: readonly string[];
  /** Loads the configuration that the command line names. */
  load(options: LoadOptions): Promise<Config>;
  /** Shows the operator how to use the daemon. Called once, after the database is open. */
  greet(greeting: Greeting): void;
}

export interface Greeting {
  /** The URL of OTLP/HTTP on this machine. */
  readonly endpoint: string;
  /** The URL of OTLP/gRPC; null when it is not served. */
  readonly grpc: string | null;
  /** Whether other machines reach the endpoints at any address of this one. */
  readonly listensEverywhere: boolean;
  /** The key of the first start; null at every later start. */
  readonly key: string | null;
  /** Whether there is any active key. */
  readonly keysExist: boolean;
  /** The console; null without one. */
  readonly console: GreetedConsole | null;
  /** A command line for the database; null when none can be given. */
  readonly psql: string | null;
}

export interface GreetedConsole {
  readonly url: string;
  /** A one-time link, on the first start. */
  readonly link: string | null;
  readonly login: boolean;
}
