/**
 * The daemon's log: pino, as JSON lines, or readable lines on a terminal. Components get children that carry the Collector's
 * fields. What repeats itself is written a few times in each window and counted beyond that: a client in a loop must neither
 * fill the disk nor hide what else happens.
 */
import { type DestinationStream, pino } from 'pino';
import type { Kind } from '../../component/definition.ts';
import type { Logger } from '../../component/logger.ts';
import type { LogLevel, LogSampling } from '../../config/config.ts';
import type { Signal } from '../../pdata/context.ts';
import { Repetitions } from './repetitions.ts';

/** Whose lines they are: a component, one of a pipeline's own processors, or a pipeline. */
export interface Speaker {
  readonly kind?: Kind;
  readonly id?: string;
  readonly pipeline?: string;
  readonly signal?: Signal;
}

/** A warning or an error, as `sluice status` shows it. */
export interface Problem {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
}

/** So many are remembered. */
export const MAX_PROBLEMS = 10;

export interface LogSettings {
  readonly level: LogLevel;
  readonly sampling: LogSampling;
}

interface NewLog extends LogSettings {
  /** On every line: which of several workers it comes from. */
  readonly worker?: number;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export class DaemonLogger implements Logger {
  readonly #pino: Logger;
  readonly #repetitions: Repetitions;
  readonly #settings: Shared;
  /** Nothing in here comes from a client. */
  readonly #fields: Readonly<Record<string, string>>;

  private constructor(parent: Pick<Parts, 'pino' | 'repetitions' | 'settings'>, fields: Parts['fields']) {
    this.#pino = parent.pino;
    this.#repetitions = parent.repetitions;
    this.#settings = parent.settings;
    this.#fields = fields;
  }

  static create({ level, sampling, worker }: NewLog, destination: DestinationStream): DaemonLogger {
    const root = pino(
      {
        level: 'debug',
        base: worker === undefined ? null : { worker },
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { error: pino.stdSerializers.err },
      },
      destination,
    );
    return new DaemonLogger(
      { pino: root, repetitions: new Repetitions(sampling), settings: { level, problems: [] } },
      {},
    );
  }

  /** Holds for all its children at once. */
  configure({ level, sampling }: LogSettings): void {
    this.#settings.level = level;
    this.#repetitions.configure(sampling);
  }

  /** A logger whose lines say whose they are. */
  for({ kind, id, pipeline, signal }: Speaker): DaemonLogger {
    const parent = { pino: this.#pino, repetitions: this.#repetitions, settings: this.#settings };
    return new DaemonLogger(parent, {
      ...(kind === undefined ? {} : { 'otelcol.component.kind': kind }),
      ...(id === undefined ? {} : { 'otelcol.component.id': id }),
      ...(pipeline === undefined ? {} : { 'otelcol.pipeline.id': pipeline }),
      ...(signal === undefined ? {} : { 'otelcol.signal': signal }),
    });
  }

  debug(fields: object, message: string): void {
    this.#write('debug', fields, message);
  }

  info(fields: object, message: string): void {
    this.#write('info', fields, message);
  }

  warn(fields: object, message: string): void {
    this.#write('warn', fields, message);
  }

  error(fields: object, message: string): void {
    this.#write('error', fields, message);
  }

  /** The latest last. */
  get problems(): readonly Problem[] {
    return this.#settings.problems;
  }

  #write(level: LogLevel, fields: object, message: string): void {
    if (level === 'warn' || level === 'error') this.#remember(level, message);
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.#settings.level)) return;
    // The code of a refusal is from a closed list; a flood of one must not hide another.
    const code = 'code' in fields ? fields.code : '';
    const key = `${level} ${this.#fields['otelcol.component.id']} ${this.#fields['otelcol.pipeline.id']} ${code} ${message}`;
    const report = (suppressed: number): void => {
      const more = { ...this.#fields, ...(code === '' ? {} : { code }), similar: message, suppressed };
      this.#pino[level](more, `${suppressed} similar messages suppressed`);
    };
    if (this.#repetitions.admit(key, report)) this.#pino[level]({ ...this.#fields, ...fields }, message);
  }

  #remember(level: LogLevel, message: string): void {
    const { problems } = this.#settings;
    problems.push({ time: new Date().toISOString(), level, message });
    if (problems.length > MAX_PROBLEMS) problems.shift();
  }
}

interface Shared {
  level: LogLevel;
  readonly problems: Problem[];
}

interface Parts {
  readonly pino: Logger;
  readonly repetitions: Repetitions;
  readonly settings: Shared;
  readonly fields: Readonly<Record<string, string>>;
}
