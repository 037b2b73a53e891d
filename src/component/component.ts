/**
 * The contract of every component, of any kind.
 *
 * Life: `create` connects objects and does no I/O · `start` connects, migrates, listens · `stop` releases. The service
 * starts extensions, then exporters, processors and receivers, and stops them in reverse order. When a start fails, the
 * started ones are stopped.
 */
import type { Logger } from './logger.ts';
import type { Meter } from './meter.ts';
import type { Capabilities } from './capabilities/capability.ts';
import type { Listeners } from './listening.ts';

export interface Component {
  /**
   * May reject with a `UserError` that states the fix. Called once. `stopping` aborts when the service is stopped
   * during this start, and never after it. A start that takes seconds should then reject, with any error.
   */
  start?(stopping?: AbortSignal): Promise<void>;
  /**
   * Must work before a start, twice, and after a failed start. Should end when `deadline` aborts; the rest is then
   * abandoned.
   */
  stop?(deadline: AbortSignal): Promise<void>;
  /**
   * A reload changed this component's options, which are valid. Returns a function that applies them to the running
   * component at once, or null when a new component must replace it. The new one is started before this one stops.
   * Throws a `UserError` when the change needs a restart of the daemon. Left out: a new component replaces this one.
   */
  reconfigure?(options: unknown): (() => void) | null;
}

/** The part of the running process that a component may use. The command line provides the real process. */
export interface HostProcess {
  readonly pid: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  getuid?(): number;
  /** Processor time of all threads, in microseconds. */
  cpuUsage?(): { readonly user: number; readonly system: number };
  /**
   * Bytes that the operating system allows this process and its children; zero or a very large number without a limit.
   */
  constrainedMemory?(): number;
  kill(pid: number, signal: NodeJS.Signals | 0): boolean;
}

/** What the service passes to each component at its creation. */
export interface Host {
  /** The component's id, `type` or `type/name`. */
  readonly id: string;
  /** The pipeline that a processor belongs to; left out for other components. */
  readonly pipeline?: string;
  /** Already bound to the component's kind and id. */
  readonly logger: Logger;
  readonly meter: Meter;
  /** The capabilities of other components. Read them from `start` on; extensions offer theirs in `create`. */
  readonly capabilities: Capabilities;
  /** Opens ports. A component does not open a port itself, so that a reload can hand the open socket over. */
  readonly listeners: Listeners;
  /** Milliseconds since the Unix epoch; tests pass their own clock. */
  now(): number;
  readonly process: HostProcess;
  /** The number of processes that share the budgets of the daemon, such as bytes in flight; 1 without workers. */
  readonly workers: number;
  /** Resolves a path of the configuration relative to the working directory. */
  resolvePath(path: string): string;
  /** Ends the process with exit code 1, for a fault after which nothing may be acknowledged. Rarely needed. */
  fatal(error: Error): void;
}

/**
 * The processes of a daemon with several workers that run the component: each `worker`, the `primary`, or `both`. A
 * component with `single` works in one process only, for example because a file has one writer, and is refused with
 * several workers.
 */
export type Placement = 'worker' | 'primary' | 'both' | 'single';

export type Stability = 'stable' | 'beta' | 'alpha' | 'development';

/** A JSON Schema (draft-07) object: the only source for defaults, documentation and validation of options. */
export type OptionsSchema = Readonly<Record<string, unknown>>;

/** A fault in options that the schema admits. */
export interface OptionFault {
  /** The path below the component: `['protocols', 'http', 'tls', 'cert_file']`. */
  readonly option: readonly (string | number)[];
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly hint: string | null;
}

/** The context of an options check. */
export interface CheckPlace {
  /** The component in the configuration, as in messages: `processors.pricing/eu`. */
  readonly name: string;
  resolvePath(path: string): string;
  now(): number;
}

/** The declarations of all four kinds. */
export interface Declaration<Options = unknown> {
  /** snake_case, as in the configuration. */
  readonly type: string;
  /** One line: the purpose for the user. */
  readonly summary: string;
  readonly stability: Stability;
  readonly schema: OptionsSchema;
  /** Left out: `worker`. */
  readonly placement?: Placement;
  /** The smallest useful options, as YAML text; documented and tested. */
  readonly example: string;
  /** Checks what the schema cannot express. Faults are reported with their place in the file. It may read files. */
  check?(options: Options, place: CheckPlace): readonly OptionFault[] | Promise<readonly OptionFault[]>;
}
