/** The commands that the console starts to read archived days. */
import { loadWholeConversation } from './lake/archived-conversation.ts';
import {
  type ArchivedRange,
  boundedSince,
  loadRecords,
  loadTracesOf,
  loadUsage,
  rangeOfWords,
  type ReadLimits,
} from './lake/archived-range.ts';
import { loadTrace } from './lake/archived-trace.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { type Lake, LAKE_OPTION } from './lake/lake.ts';
import { type ArchivedWork, serveArchived } from './lake/serve-archived.ts';
import { flagOption, onlyWord } from './options.ts';

/** The files that are read for one answer, so that it comes in time. Older days are left out. */
const MOST_OF_USAGE = { records: 1_000_000 };
const MOST_OF_METRICS = { records: 200_000, signals: ['metric_points'] } as const;
const MOST_OF_TRACES = { records: 200_000 };
const MOST_WITH_CONTENT = { ...MOST_OF_TRACES, bytes: 64 * 1024 * 1024 };

const OPTIONS = { ...CONFIG_OPTIONS, ...LAKE_OPTION };

export const commands: Readonly<Record<string, Command>> = {
  /** One trace. */
  'archived-trace': {
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
  },
  /** One conversation, whose id comes with the first request. */
  'archived-conversation': {
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
  },
  'archived-usage': {
    options: { ...OPTIONS, owners: flagOption('Also load the spans above the calls') },
    examples: [],
    run: (call) => {
      const hasOwners = call.values.flag('owners');
      const load = (lake: Lake, range: ArchivedRange): Promise<void> => loadUsage(lake, range, hasOwners);
      return serveRange(call, { columns: 'figures', most: MOST_OF_USAGE, load });
    },
  },
  /** Lists of traces, conversations and log records. */
  'archived-traces': {
    options: { ...OPTIONS, content: flagOption('Also load content') },
    examples: [],
    run: (call) =>
      call.values.flag('content')
        ? serveRange(call, { columns: 'all', most: MOST_WITH_CONTENT, load: loadTracesOf })
        : serveRange(call, { columns: 'figures', most: MOST_OF_TRACES, load: loadTracesOf }),
  },
  'archived-metrics': {
    options: OPTIONS,
    examples: [],
    run: (call) => {
      const load = (lake: Lake, range: ArchivedRange): Promise<void> => loadRecords(lake, 'metric_points', range);
      return serveRange(call, { columns: 'all', most: MOST_OF_METRICS, load });
    },
  },
};

interface RangeParts extends Pick<ArchivedWork, 'columns'> {
  readonly most: ReadLimits;
  load(lake: Lake, range: ArchivedRange): Promise<void>;
}

/** Answers from the records of the range that the words name, as far back as the limits allow. */
function serveRange(call: Call, { columns, most, load }: RangeParts): Promise<void> {
  const range = rangeOfWords(call);
  return serveArchived(call, {
    columns,
    load: async (lake) => {
      const since = boundedSince(lake.files, range, most);
      await load(lake, { ...range, since });
      return BigInt(since);
    },
  });
}
