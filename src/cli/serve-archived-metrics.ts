/** The process with which the console reads metrics of archived days. */
import { boundedSince, loadRecords, rangeOfWords } from './archived-range.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { serveArchived } from './serve-archived.ts';

/** The limit of the files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST = { records: 200_000, signals: ['metric_points'] } as const;

export const serveArchivedMetrics: Command = {
  options: { ...CONFIG_OPTIONS, ...LAKE_OPTION },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    return serveArchived(call, {
      columns: 'all',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, MOST);
        await loadRecords(lake, 'metric_points', { ...range, since });
        return BigInt(since);
      },
    });
  },
};
