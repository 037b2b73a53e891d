/** The commands that the console starts to read archived days. */
import { loadWholeConversation } from './archived-conversation.ts';
import { boundedSince, loadRecords, loadTracesOf, loadUsage, rangeOfWords } from './archived-range.ts';
import { loadTrace } from './archived-trace.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { LAKE_OPTION } from './lake.ts';
import { onlyWord } from './project.ts';
import { serveArchived } from './serve-archived.ts';

/** The files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST_OF_USAGE = { records: 1_000_000 };
const MOST_OF_METRICS = { records: 200_000, signals: ['metric_points'] } as const;
const MOST_OF_TRACES = { records: 200_000 };
const MOST_WITH_CONTENT = { ...MOST_OF_TRACES, bytes: 64 * 1024 * 1024 };

const OPTIONS = { ...CONFIG_OPTIONS, ...LAKE_OPTION };

/** One trace. */
export const archivedTrace: Command = {
  options: OPTIONS,
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

/** One conversation, whose id comes with the first request. */
export const archivedConversation: Command = {
  options: OPTIONS,
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

export const archivedUsage: Command = {
  options: { ...OPTIONS, owners: { type: 'flag', description: 'Also load the spans above the calls' } },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    return serveArchived(call, {
      columns: 'figures',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, MOST_OF_USAGE);
        await loadUsage(lake, { ...range, since }, call.values.flag('owners'));
        return BigInt(since);
      },
    });
  },
};

/** Lists of traces, conversations and log records. */
export const archivedTraces: Command = {
  options: { ...OPTIONS, content: { type: 'flag', description: 'Also load content' } },
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    const hasContent = call.values.flag('content');
    return serveArchived(call, {
      columns: hasContent ? 'all' : 'figures',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, hasContent ? MOST_WITH_CONTENT : MOST_OF_TRACES);
        await loadTracesOf(lake, { ...range, since });
        return BigInt(since);
      },
    });
  },
};

export const archivedMetrics: Command = {
  options: OPTIONS,
  examples: [],
  run: (call) => {
    const range = rangeOfWords(call);
    return serveArchived(call, {
      columns: 'all',
      load: async (lake) => {
        const since = boundedSince(lake.files, range, MOST_OF_METRICS);
        await loadRecords(lake, 'metric_points', { ...range, since });
        return BigInt(since);
      },
    });
  },
};
