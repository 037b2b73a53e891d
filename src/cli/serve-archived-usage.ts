/** The process with which the console counts the usage of archived days. */
import { boundedSince, loadUsage, rangeOfWords } from './archived-range.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { serveArchived } from './serve-archived.ts';

/** Records of the files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST_RECORDS = 1_000_000;

export const serveArchivedUsage: Command = {
  options: {
    ...CONFIG_OPTIONS,
    ...LAKE_OPTION,
    owners: { type: 'flag', description: 'Also load the spans above the calls' },
  },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    return serveArchived(call, {
      columns: 'figures',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, { records: MOST_RECORDS });
        await loadUsage(lake, { ...range, since }, call.values.flag('owners'));
        return BigInt(since);
      },
    });
  },
};
