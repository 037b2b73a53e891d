/** The process with which the console lists the traces of archived days. */
import { boundedSince, loadTracesOf, rangeOfWords } from './archived-range.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { serveArchived } from './serve-archived.ts';

/** Of the files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST_RECORDS = 200_000;

export const serveArchivedTraces: Command = {
  options: {
    ...CONFIG_OPTIONS,
    ...LAKE_OPTION,
    content: { type: 'flag', description: 'Also load content, for filters' },
  },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    return serveArchived(call, {
      columns: call.values.flag('content') ? 'all' : 'figures',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, MOST_RECORDS);
        await loadTracesOf(lake, { ...range, since });
        return BigInt(since);
      },
    });
  },
};
