/** The data of `sluice status`, from the metrics, the running configuration and the last problems of the log. */
import { RECORD_NOUNS } from '../../component/meter.ts';
import type { Config } from '../../config/config.ts';
import { MAX_PROBLEMS, type Problem } from './logger.ts';
import type { Registry } from './registry.ts';

/** A schedule of the daemon that changes the lake. */
export interface ScheduleStatus {
  readonly running: boolean;
  /** Since a run was complete, or since the start. */
  readonly ageSeconds: number;
}

/** One worker process. */
export interface WorkerStatus {
  readonly number: number;
  /** Null while it does not run. */
  readonly pid: number | null;
  readonly state: string;
  readonly restarts: number;
}

/** The archive of days that have ended. */
export interface ArchiveStatus extends ScheduleStatus {
  /** Days past their retention that are kept because they are not archived. */
  readonly heldDays: number;
}

/** The process and what it was started with. */
export interface Identity {
  readonly pid: number;
  readonly version: string;
  /** Absolute paths, in the order in which they are merged. */
  readonly configuration: readonly string[];
  /** The working directory. Relative paths of the configuration begin here. */
  readonly folder: string;
  /** The folder of the embedded database, or host and name of another; null without a database. */
  readonly database: string | null;
}

export interface Status extends Identity, Activity {
  /** The URLs of OTLP on this machine; null where it is not served over TCP. */
  readonly otlp: { readonly http: string | null; readonly grpc: string | null };
  /** The URL of the metrics; null when they are not served. */
  readonly metrics: string | null;
  /** The URL of the console; its endpoint where it has no URL; null without one. */
  readonly console: string | null;
}

/** The state of a process and its counts since the start. */
export interface Activity {
  readonly uptimeSeconds: number;
  readonly state: string;
  /** Why it is not ready; empty when it is. */
  readonly problems: readonly string[];
  readonly pipelines: readonly { readonly id: string; readonly way: string }[];
  /** Records since the start. */
  readonly signals: Readonly<Record<string, { readonly stored: number; readonly refused: number }>>;
  /** Requests refused since the start, by code. */
  readonly refusals: Readonly<Record<string, number>>;
  readonly requestsInFlight: number;
  readonly requestsWaiting: number;
  readonly commits: number;
  /** Commits by their duration in seconds: the upper bound of a bucket, and the count in it. */
  readonly commitTimes: Readonly<Record<string, number>>;
  readonly requestsSettled: number;
  readonly keyCache: { readonly hits: number; readonly misses: number };
  readonly outbox: { readonly entries: number; readonly oldestSeconds: number; readonly deadLetters: number };
  readonly embeddedServer: boolean;
  /** Null where no archive is configured. */
  readonly archive: ArchiveStatus | null;
  /** Null where no exporter stores objects, or their compaction is not scheduled. */
  readonly compaction: ScheduleStatus | null;
  /** Empty in a daemon of one process. */
  readonly workers: readonly WorkerStatus[];
  readonly lastProblems: readonly Problem[];
}

interface Sources {
  readonly config: Config;
  readonly registry: Registry;
  readonly state: string;
  readonly problems: readonly string[];
  readonly lastProblems: readonly Problem[];
}

export function statusOf({ config, registry, state, problems, lastProblems }: Sources): Activity {
  const total = (name: string): number => registry.total(name);
  return {
    uptimeSeconds: Math.round(total('otelcol_process_uptime')),
    state,
    problems,
    pipelines: config.service.pipelines.map(({ id, receivers, processors, exporters }) => ({
      id,
      way: `${receivers.join(', ')} → ${processors.join(' → ')} → ${exporters.join(', ')}`,
    })),
    signals: Object.fromEntries(
      Object.entries(RECORD_NOUNS).map(([signal, noun]) => [
        signal,
        {
          stored: total(`otelcol_receiver_accepted_${noun}`),
          refused: total(`otelcol_receiver_refused_${noun}`),
        },
      ]),
    ),
    refusals: registry.by('sluice_refusals', 'code'),
    requestsInFlight: total('sluice_requests_in_flight'),
    requestsWaiting: total('sluice_requests_waiting'),
    commits: total('sluice_commit_seconds'),
    commitTimes: registry.buckets('sluice_commit_seconds'),
    requestsSettled: total('sluice_verdicts'),
    keyCache: { hits: total('sluice_key_cache_hits'), misses: total('sluice_key_cache_misses') },
    outbox: {
      entries: total('sluice_outbox_entries'),
      oldestSeconds: total('sluice_outbox_oldest_seconds'),
      deadLetters: total('sluice_outbox_dead_letters'),
    },
    embeddedServer: total('sluice_embedded_server_running') > 0,
    archive: archiveOf(registry),
    compaction: scheduleOf(registry, 'compaction'),
    workers: [],
    lastProblems,
  };
}

function archiveOf(registry: Registry): ArchiveStatus | null {
  const schedule = scheduleOf(registry, 'archive');
  return schedule === null ? null : { ...schedule, heldDays: registry.total('sluice_archive_held_days') };
}

function scheduleOf(registry: Registry, name: 'archive' | 'compaction'): ScheduleStatus | null {
  const ageSeconds = registry.total(`sluice_${name}_age_seconds`);
  // It has begun with the process, or earlier.
  if (ageSeconds === 0) return null;
  return { running: registry.total(`sluice_${name}_running`) > 0, ageSeconds: Math.round(ageSeconds) };
}

/** The status of the primary with the sums of its workers. */
export function joinStatuses(own: Status, workers: readonly WorkerStatus[], theirs: readonly Activity[]): Status {
  const sum = (pick: (status: Activity) => number): number => theirs.reduce((total, each) => total + pick(each), 0);
  // All workers report the same outbox.
  const most = (pick: (status: Activity) => number): number => Math.max(0, ...theirs.map(pick));
  const problems = [own, ...theirs].flatMap(({ lastProblems }) => lastProblems);
  return {
    ...own,
    signals: Object.fromEntries(
      Object.keys(RECORD_NOUNS).map((signal) => [
        signal,
        {
          stored: sum(({ signals }) => signals[signal]?.stored ?? 0),
          refused: sum(({ signals }) => signals[signal]?.refused ?? 0),
        },
      ]),
    ),
    refusals: sumByKey(theirs.map(({ refusals }) => refusals)),
    requestsInFlight: sum(({ requestsInFlight }) => requestsInFlight),
    requestsWaiting: sum(({ requestsWaiting }) => requestsWaiting),
    commits: sum(({ commits }) => commits),
    commitTimes: sumByKey(theirs.map(({ commitTimes }) => commitTimes)),
    requestsSettled: sum(({ requestsSettled }) => requestsSettled),
    keyCache: { hits: sum(({ keyCache }) => keyCache.hits), misses: sum(({ keyCache }) => keyCache.misses) },
    outbox: {
      entries: most(({ outbox }) => outbox.entries),
      oldestSeconds: most(({ outbox }) => outbox.oldestSeconds),
      deadLetters: most(({ outbox }) => outbox.deadLetters),
    },
    archive: joinArchives(theirs),
    compaction: joinSchedules(theirs.flatMap(({ compaction }) => compaction ?? [])),
    workers,
    lastProblems: problems.sort((a, b) => (a.time < b.time ? -1 : 1)).slice(-MAX_PROBLEMS),
  };
}

/** One of the workers does the maintenance. */
function joinArchives(theirs: readonly Activity[]): ArchiveStatus | null {
  const archives = theirs.flatMap(({ archive }) => archive ?? []);
  const schedule = joinSchedules(archives);
  return schedule === null ? null : { ...schedule, heldDays: Math.max(...archives.map(({ heldDays }) => heldDays)) };
}

/** One of the workers runs it. */
function joinSchedules(schedules: readonly ScheduleStatus[]): ScheduleStatus | null {
  if (schedules.length === 0) return null;
  return {
    running: schedules.some(({ running }) => running),
    ageSeconds: Math.min(...schedules.map(({ ageSeconds }) => ageSeconds)),
  };
}

function sumByKey(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [key, value] of records.flatMap((record) => Object.entries(record))) sums[key] = (sums[key] ?? 0) + value;
  return sums;
}
