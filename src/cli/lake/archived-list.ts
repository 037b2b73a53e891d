/** Loads archived traces and those of objects for a list of the newest ones, until the list is full. */
import type { ArchivedFile } from '../../archive/reading/archived-files.ts';
import { dayNear, endOf, startOf } from './archived-range.ts';
import { filesWithTraces, partsSince } from './archived-trace.ts';
import type { Lake } from './lake.ts';

/** Traces that are loaded at first. Each further step loads more, because each reads the files again. */
const FIRST_TRACES = 100;
const GROWTH = 8;
/** Compressed bytes of objects that are read at first, and in all. */
const FIRST_PART_BYTES = 8 * 1024 * 1024;
const MOST_PART_BYTES = 256 * 1024 * 1024;

export interface ListSearch {
  readonly project: string | null;
  /** Unix nanoseconds; null: no limit. */
  readonly since: string | null;
  readonly limit: number;
}

/** `readTimes`: the times of the listed traces, the newest first, in nanoseconds. */
export async function loadNewest(
  lake: Lake,
  search: ListSearch,
  readTimes: () => Promise<readonly bigint[]>,
): Promise<void> {
  const waiting = await lake.findParts(partsSince(search));
  if (waiting === null) return loadNewestFiles(lake, search, readTimes);
  for (let bytes = FIRST_PART_BYTES; ; bytes *= GROWTH) {
    await lake.include(waiting, bytes);
    await loadNewestFiles(lake, search, readTimes);
    const { leftNs } = waiting;
    if (leftNs === null || lake.unread !== null) return;
    // A trace that began later has no record in an earlier request.
    const last = (await readTimes())[search.limit - 1];
    if (last !== undefined && last > leftNs) return;
    if (bytes > MOST_PART_BYTES / GROWTH) return lake.leaveOutRequests(leftNs);
    await lake.clear();
  }
}

/**
 * A trace is found on the newest day on which it has records, and loaded with those of the days around it.
 */
async function loadNewestFiles(
  lake: Lake,
  { project, since, limit }: ListSearch,
  readTimes: () => Promise<readonly bigint[]>,
): Promise<void> {
  const files = filesWithTraces(lake.files, { project, since: null });
  const days = [...new Set(filesWithTraces(files, { project, since }).map(({ day }) => day))];
  const isFull = async (beforeNs: bigint): Promise<boolean> => {
    const last = (await readTimes())[limit - 1];
    return last !== undefined && last > beforeNs;
  };
  for (let [at, size] = [0, 1]; at < days.length; at += size, size *= 2) {
    const window = days.slice(at, at + size);
    if (at === 0 && (await isFull(endOf(window[0])))) return;
    const [newest, near] = [files.filter(({ day }) => window.includes(day)), filesNear(files, window)];
    for (let count = Math.max(FIRST_TRACES, 2 * limit); ; count *= GROWTH) {
      const { found, oldestNs } = await lake.chooseNewest({ files: newest, project, traces: null }, count);
      if (found === 0) break;
      const where = { spans: lake.isChosen, logs: lake.isChosen };
      await lake.load({ files: near, project, traces: null, where });
      await lake.complete();
      if (oldestNs !== null && (await isFull(oldestNs))) return;
      if (found < count) break;
    }
    if (await isFull(startOf(window.at(-1)))) return;
  }
}

/** A trace may have records on the day before and after. */
function filesNear(files: readonly ArchivedFile[], window: readonly string[]): readonly ArchivedFile[] {
  const [newest = '', oldest = ''] = [window[0], window.at(-1)];
  const [from, to] = [dayNear(oldest, -1), dayNear(newest, 1)];
  return files.filter(({ day }) => day >= from && day <= to);
}
