/** The process with which the console reads one conversation of archived days. */
import { loadWholeConversation } from './archived-conversation.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { onlyWord } from './project.ts';
import { serveArchived } from './serve-archived.ts';

export const serveArchivedConversation: Command = {
  options: {
    ...CONFIG_OPTIONS,
    ...LAKE_OPTION,
  },
  examples: [],
  run: (call) =>
    serveArchived(call, {
      columns: 'all',
      load: async (lake, { conversation = '' }) => {
        await loadWholeConversation(lake, { id: conversation, project: onlyWord(call, 'PROJECT'), since: null });
        return 0n;
      },
    }),
};
