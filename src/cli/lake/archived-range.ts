/** Loads the archived rows of a range of time: for sums of usage, and for exports. */
import type { ArchivedFile } from '../../archive/reading/archived-files.ts';
import type { LakeSignal } from '../../archive/lake-table.ts';
import type { Call } from '../command.ts';
import type { Lake } from './lake.ts';
import { UsageError } from '../options.ts';
import { DAY_MS, DAY_NS, MS_NS } from '../../pdata/time-units.ts';

/** In Unix nanoseconds; null: no limit. */
export interface ArchivedRange {
  readonly since: string | null;
  readonly until: string | null;
  readonly project: string | null;
}

/** The words of a command that loads the archived days of a range for the console. */
export function rangeOfWords({ words: [project, since, until] }: Call) {
  if (project === undefined || since === undefined || until === undefined)
    throw new UsageError('name a project and two times');
  return { project, since, until };
}

export const dayOf = (ns: bigint): string => new Date(Number(ns / MS_NS)).toISOString().slice(0, 10);

/** The first moment of a day, in nanoseconds, and of the day after it. */
export const startOf = (day = ''): bigint => BigInt(Date.parse(day)) * MS_NS;
export const endOf = (day = ''): bigint => startOf(day) + DAY_NS;

/** The day so many days after another one. */
export const dayNear = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * The files that can have records of the range, or of traces that reach into it: `marginNs` is added on both sides. A
 * span is in the file of its day. Other records are in the file of the day they arrived, and files have their times.
 */
export function filesOf(
  files: readonly ArchivedFile[],
  signals: readonly LakeSignal[],
  { since, until, project }: ArchivedRange,
  marginNs: bigint,
): readonly ArchivedFile[] {
  const from = since === null ? null : BigInt(since) - marginNs;
  const to = until === null ? null : BigInt(until) + marginNs;
  return files.filter(({ signal, day, minNs, maxNs, projects }) => {
    if (!signals.includes(signal) || (project !== null && !projects.includes(project))) return false;
    if (signal === 'spans') return (from === null || day >= dayOf(from)) && (to === null || day <= dayOf(to));
    return (from === null || (maxNs !== null && maxNs >= from)) && (to === null || (minNs !== null && minNs < to));
  });
}

/** As `filesOf`, after the records that are in objects only were included too. */
async function includeRange(lake: Lake, signals: readonly LakeSignal[], range: ArchivedRange, marginNs: bigint) {
  const { since, until, project } = range;
  const fromNs = since === null ? null : BigInt(since) - marginNs;
  const untilNs = until === null ? null : BigInt(until) + marginNs;
  await lake.includeParts({ signals, project, fromNs, untilNs, traces: null, arrivedNs: null });
  return filesOf(lake.files, signals, range, marginNs);
}

/** What is read of files for one answer. */
export interface ReadLimits {
  readonly records: number;
  /** The bytes of whole files. */
  readonly bytes?: number;
  /** Left out: those with traces. */
  readonly signals?: readonly LakeSignal[];
}

/**
 * The time from which on at most so many records are read: the beginning of the range, or a day after the
 * newest day that is left out, because a trace may reach into the day after its own.
 */
export function boundedSince(
  files: readonly ArchivedFile[],
  range: ArchivedRange & { readonly since: string },
  most: ReadLimits,
): string {
  const wanted = filesOf(files, most.signals ?? USAGE_SIGNALS, range, DAY_NS);
  const days = [...new Set(wanted.map(({ day }) => day))].sort().reverse();
  let [records, bytes] = [0, 0];
  for (const day of days) {
    for (const file of wanted.filter((each) => each.day === day)) {
      records += file.records;
      bytes += file.bytes;
    }
    if (records > most.records || bytes > (most.bytes ?? bytes)) return latest(range.since, endOf(day) + DAY_NS);
  }
  return range.since;
}

const latest = (since: string, ns: bigint): string => String(BigInt(since) > ns ? BigInt(since) : ns);

const USAGE_SIGNALS = ['spans', 'logs'] as const;
const HAS_USAGE = 'usage_scope IS NOT NULL';

/**
 * What sums of usage need: records with usage, and all spans of traces with a roll-up, because which roll-ups count
 * follows from the tree. With `owners`, all records of traces with usage: a call belongs to the user, conversation or
 * agent of a span above it. A trace of several days is read a day beyond the range.
 */
export async function loadUsage(lake: Lake, range: ArchivedRange, owners: boolean): Promise<void> {
  const files = await includeRange(lake, USAGE_SIGNALS, range, DAY_NS);
  const { project } = range;
  const chosen = owners ? { spans: HAS_USAGE, logs: HAS_USAGE } : { spans: "usage_scope = 'rollup'", logs: 'false' };
  await lake.chooseTraces({ files, project, traces: null, where: chosen });
  const wanted = `(${HAS_USAGE} OR ${lake.isChosen})`;
  const where = { spans: wanted, logs: owners ? wanted : HAS_USAGE };
  await lake.load({ files, project, traces: null, where });
  await lake.complete();
}

/** Whole records of one signal. */
export async function loadRecords(lake: Lake, signal: LakeSignal, range: ArchivedRange): Promise<void> {
  const time = TIMES[signal];
  const where = [
    ...(range.since === null ? [] : [`${time} >= ${range.since}`]),
    ...(range.until === null ? [] : [`${time} < ${range.until}`]),
  ].join(' AND ');
  const files = await includeRange(lake, [signal], range, 0n);
  await lake.load({
    files,
    project: range.project,
    traces: null,
    ...(where === '' ? {} : { where: { [signal]: where } }),
  });
  await lake.complete();
}

const TIMES: Readonly<Record<LakeSignal, string>> = {
  spans: 'start_time_unix_nano',
  logs: 'coalesce(time_unix_nano, observed_time_unix_nano)',
  metric_points: 'time_unix_nano',
};

/** All records of the traces that have a record in the range. */
export async function loadTracesOf(lake: Lake, range: ArchivedRange): Promise<void> {
  const files = await includeRange(lake, USAGE_SIGNALS, range, DAY_NS);
  await lake.load({ files, project: range.project, traces: null });
  await lake.complete();
}
