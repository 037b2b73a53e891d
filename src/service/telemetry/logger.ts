/**
 * The daemon's log, with pino: JSON lines, or readable lines on a terminal. Components get child loggers with the
 * Collector's fields. Repeated messages are written a few times in each window and then counted, so that a client in a
 * loop neither fills the disk nor hides other messages.
 */
import { type DestinationStream, pino } from 'pino';
import type { Kind } from '../../component/definition.ts';
import type { Logger } from '../../component/logger.ts';
import type { LogLevel, LogSampling } from '../../config/config.ts';
import type { Signal } from '../../pdata/context.ts';
import { Repetitions } from './repetitions.ts';

/** The source of log lines: a component, a processor of a pipeline, or a pipeline. */
export interface LogScope {
  readonly kind?: Kind;
  readonly id?: string;
  readonly pipeline?: string;
  readonly signal?: Signal;
}

/** A warning or an error for `sluice status`. */
export interface Problem {
  readonly time: string;
  readonly level: LogLevel;
  readonly message: string;
}

/** The limit of remembered problems. */
export const MAX_PROBLEMS = 10;

export interface LogSettings {
  readonly level: LogLevel;
  readonly sampling: LogSampling;
}

interface NewLog extends LogSettings {
  /** The number of the worker, a field of every line. */
  readonly worker?: number;
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export class DaemonLogger implements Logger {
  readonly #pino: Logger;
  readonly #repetitions: Repetitions;
  readonly #settings: Shared;
  /** These fields never come from a client. */
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

  /** Applies to all child loggers. */
  configure({ level, sampling }: LogSettings): void {
    this.#settings.level = level;
    this.#repetitions.configure(sampling);
  }

  /** A child logger with the fields of the scope. */
  for({ kind, id, pipeline, signal }: LogScope): DaemonLogger {
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

  /** In order; the latest is the last. */
  get problems(): readonly Problem[] {
    return this.#settings.problems;
  }

  #write(level: LogLevel, fields: object, message: string): void {
    if (level === 'warn' || level === 'error') this.#remember(level, fields, message);
    if (LEVELS.indexOf(level) < LEVELS.indexOf(this.#settings.level)) return;
    // Refusals are counted by code and project, so that many of one do not hide another. Codes are a closed list.
    const code = 'code' in fields ? fields.code : '';
    const project = 'project' in fields && typeof fields.project === 'string' ? fields.project : null;
    const key = `${level} ${this.#fields['otelcol.component.id']} ${this.#fields['otelcol.pipeline.id']} ${code} ${message}`;
    const report = (suppressed: number, of: string | null): void => {
      const who = { ...(code === '' ? {} : { code }), ...(of === null ? {} : { project: of }) };
      const more = { ...this.#fields, ...who, similar: message, suppressed };
      this.#pino[level](more, `${suppressed} similar messages suppressed`);
    };
    if (this.#repetitions.admit(key, project, report)) this.#pino[level]({ ...this.#fields, ...fields }, message);
  }

  #remember(level: LogLevel, fields: object, message: string): void {
    const { problems } = this.#settings;
    const fix = 'fix' in fields && typeof fields.fix === 'string' ? `. ${fields.fix}` : '';
    problems.push({ time: new Date().toISOString(), level, message: `${message}${fix}` });
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
