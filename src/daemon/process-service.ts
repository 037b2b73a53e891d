/** What the primary and the workers share: a service of this process, its log and its counts. */
import { resolve } from 'node:path';
import { pino } from 'pino';
import pretty from 'pino-pretty';
import type { Config } from '../config/config.ts';
import type { ServiceDependencies } from '../service/assembly.ts';
import { makePipelines } from '../service/make-pipeline.ts';
import { Service } from '../service/service.ts';
import { DaemonLogger } from '../service/telemetry/logger.ts';
import { observeProcess } from '../service/telemetry/process-metrics.ts';
import type { Registry } from '../service/telemetry/registry.ts';
import type { OpenTaps } from '../service/telemetry/tap.ts';
import type { DaemonHost } from './daemon-host.ts';

/** After an unexpected fault, the process exits within this time. */
export const FATAL_TIMEOUT_MS = 1_500;
const MICROSECONDS = 1e6;

export interface Outside {
  readonly process: NodeJS.Process;
  readonly logger: DaemonLogger;
  readonly registry: Registry;
  readonly taps: OpenTaps;
}

/** The parts of a service that differ between primary and worker. */
export type Role = Pick<
  ServiceDependencies,
  'fatal' | 'sockets' | 'firstParts' | 'lastParts' | 'problems' | 'offer' | 'workers'
>;

export function makeService(config: Config, { process, logger, registry, taps }: Outside, role: Role): Service {
  const workingDirectory = process.cwd();
  observeProcess(registry, {
    cpuSeconds: () => (process.cpuUsage().user + process.cpuUsage().system) / MICROSECONDS,
    rssBytes: () => process.memoryUsage.rss(),
  });
  return new Service(config, {
    logger,
    loggerFor: (scope) => logger.for(scope),
    meter: registry,
    makePipeline: makePipelines(logger, registry, Date.now, taps),
    now: Date.now,
    process,
    resolvePath: (path) => resolve(workingDirectory, path),
    ...role,
  });
}

/** Characters of lines that wait until the log can be written again. */
const MAX_UNWRITTEN_LOG = 1048576;

/** Every line has the field `worker` when it is given. */
export function makeLogger(config: Config, { process, colourLog }: DaemonHost, worker?: number): DaemonLogger {
  const { level, format, sampling } = config.service.telemetry.logs;
  const readable = format === 'pretty' || (format === 'auto' && process.stderr.isTTY === true);
  const stderr = pino.destination({ fd: process.stderr.fd, sync: true, maxLength: MAX_UNWRITTEN_LOG });
  // On a full disk the daemon runs on. Lines are dropped when too many wait for space.
  stderr.on('error', () => undefined);
  const destination = readable
    ? pretty({ colorize: colourLog, destination: stderr, translateTime: 'SYS:HH:MM:ss.l' })
    : stderr;
  return DaemonLogger.create({ level, sampling, ...(worker === undefined ? {} : { worker }) }, destination);
}

export interface RequestCounts {
  readonly open: number;
  readonly answered: number;
  readonly refused: number;
}

export function countRequests(registry: Registry): RequestCounts {
  return {
    open: registry.total('sluice_requests_in_flight'),
    answered: registry.total('sluice_acknowledge_seconds'),
    refused: registry.total('sluice_refusals'),
  };
}
