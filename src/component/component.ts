/**
 * What every component promises, whichever kind it is.
 *
 * Life: `create` wires and does no I/O · `start` connects, migrates, listens · `stop` releases. The service starts extensions,
 * then exporters, processors and receivers, and stops in the opposite order; when a start fails, what had started is stopped.
 */
import type { Logger } from './logger.ts';
import type { Meter } from './meter.ts';
import type { Capabilities } from './capabilities/capability.ts';
import type { Listeners } from './listening.ts';

export interface Component {
  /** May reject with a `UserError` that says what to do. Called once. */
  start?(): Promise<void>;
  /** Must work unstarted, twice, and after a failed start. Should be done when `deadline` aborts; what is left then is abandoned. */
  stop?(deadline: AbortSignal): Promise<void>;
  /**
   * A reload changed this component's options, already validated. Returns what applies them at once to the running component, which
   * then goes on; null when a new component must take its place, started beside the running one before that is stopped. Throws
   * a `UserError` when neither can be done without a restart. Left out: a new component takes its place.
   */
  reconfigure?(options: unknown): (() => void) | null;
}

/** The part of the running process a component may see; the command line hands in the real one. */
export interface HostProcess {
  readonly pid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  getuid?(): number;
  kill(pid: number, signal: NodeJS.Signals | 0): boolean;
}

/** What the service gives each component at creation. */
export interface Host {
  /** The component's id, `type` or `type/name`. */
  readonly id: string;
  /** Already bound to the component's kind and id. */
  readonly logger: Logger;
  readonly meter: Meter;
  /** What other components offer. Reading is allowed from `start` on: extensions offer theirs at creation. */
  readonly capabilities: Capabilities;
  /** Where to ask for a port: nobody opens one alone, so that a reload can pass it on. */
  readonly listeners: Listeners;
  /** Milliseconds since the Unix epoch; tests give their own clock. */
  now(): number;
  readonly process: HostProcess;
  /** Into how many the budgets of the whole daemon are divided, such as bytes in flight; 1 where this process is all of it. */
  readonly workers: number;
  /** Resolves a path of the configuration against the working directory. */
  resolvePath(path: string): string;
  /** The process stops, with exit code 1: a fault after which nothing may be acknowledged. Rarely right. */
  fatal(error: Error): void;
}

/**
 * Which processes of a daemon with several workers have the component: each `worker`, the `primary` that watches over them, `both`; or
 * it works in a `single` process only, as a file has one writer, and is refused beside several workers.
 */
export type Placement = 'worker' | 'primary' | 'both' | 'single';

export type Stability = 'stable' | 'beta' | 'alpha' | 'development';

/** A JSON Schema (draft-07) object; the only truth for defaults, documentation and validation of options. */
export type OptionsSchema = Readonly<Record<string, unknown>>;

/** What is wrong with options although their schema admits them. */
export interface OptionFault {
  /** The path below the component: `['protocols', 'http', 'tls', 'cert_file']`. */
  readonly option: readonly (string | number)[];
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
}

/** Where options are checked. */
export interface CheckPlace {
  resolvePath(path: string): string;
  now(): number;
}

/** What all four kinds declare of themselves. */
export interface Declaration<Options = unknown> {
  /** snake_case, as it stands in the configuration. */
  readonly type: string;
  /** One line: what it does for the user. */
  readonly summary: string;
  readonly stability: Stability;
  readonly schema: OptionsSchema;
  /** Left out: `worker`. */
  readonly placement?: Placement;
  /** The smallest options that make sense, as YAML text; shown in the documentation and tested. */
  readonly example: string;
  /** What the schema cannot say, reported with its place in the file when the configuration is read. It may look at files. */
  check?(options: Options, place: CheckPlace): readonly OptionFault[];
}
