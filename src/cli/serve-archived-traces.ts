/** The process with which the console lists traces, conversations and log records of archived days. */
import { boundedSince, loadTracesOf, rangeOfWords } from './archived-range.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { serveArchived } from './serve-archived.ts';

/** Records of the files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST_RECORDS = 200_000;
/** Bytes of the files of which content is read. */
const MOST_BYTES = 64 * 1024 * 1024;

export const serveArchivedTraces: Command = {
  options: {
    ...CONFIG_OPTIONS,
    ...LAKE_OPTION,
    content: { type: 'flag', description: 'Also load content' },
  },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    const hasContent = call.values.flag('content');
    const most = { records: MOST_RECORDS, ...(hasContent ? { bytes: MOST_BYTES } : {}) };
    return serveArchived(call, {
      columns: hasContent ? 'all' : 'figures',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, most);
        await loadTracesOf(lake, { ...range, since });
        return BigInt(since);
      },
    });
  },
};
