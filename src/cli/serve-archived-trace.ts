/** The process with which the console reads one archived trace. */
import { loadTrace } from './archived-trace.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { onlyWord } from './project.ts';
import { serveArchived } from './serve-archived.ts';

export const serveArchivedTrace: Command = {
  options: { ...CONFIG_OPTIONS, ...LAKE_OPTION },
  examples: [],
  run: (call) =>
    serveArchived(call, {
      columns: 'all',
      load: async (lake) => {
        await loadTrace(lake, { id: onlyWord(call, 'TRACE'), project: null, since: null });
        return null;
      },
    }),
};
