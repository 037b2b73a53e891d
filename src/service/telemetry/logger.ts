/** The daemon's log: pino, as JSON lines, or readable lines on a terminal. Components get children bound to their kind and id. */
import { type DestinationStream, pino } from 'pino';
import type { Logger } from '../../component/logger.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerRoot extends Logger {
  /** A logger whose lines carry these fields (the Collector's `otelcol.component.kind`, `otelcol.component.id`). */
  child(fields: Readonly<Record<string, string>>): LoggerRoot;
}

export function createLogger(level: LogLevel, destination: DestinationStream): LoggerRoot {
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: pino.stdSerializers.err },
    },
    destination,
  );
  return wrap(root);
}

/** The part of pino that is used here. */
interface PinoLogger extends Logger {
  child(fields: object): PinoLogger;
}

function wrap(logger: PinoLogger): LoggerRoot {
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
    child: (fields) => wrap(logger.child(fields)),
  };
}
