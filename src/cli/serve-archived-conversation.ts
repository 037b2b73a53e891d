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
    id: { type: 'text', value: 'ID', description: 'The whole id of the conversation', default: '' },
  },
  examples: [],
  run: (call) =>
    serveArchived(call, {
      columns: 'all',
      load: async (lake) => {
        const project = onlyWord(call, 'PROJECT');
        await loadWholeConversation(lake, { id: call.values.word('id'), project, since: null });
        return 0n;
      },
    }),
};
