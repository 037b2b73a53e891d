/** The schedule of `sluice compact`, which publishes and removes what the exporter stores. */
import { IS_OF_TABLES } from '../../component/archived-day.ts';
import type { ScheduledCommand } from '../../component/command-schedule.ts';
import { booleanOption, optionGroup } from '../../component/option-schema.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

export interface CompactionOptions {
  readonly enabled: boolean;
  /** In milliseconds. */
  readonly older_than: number;
  /** Left out: files stay. */
  readonly keep?: number;
  readonly interval: number;
  readonly memory: number;
}

const DURATION = { type: 'integer', format: 'duration' } as const;

export const COMPACTION_SCHEMA = optionGroup(
  'Records become Parquet files, by `sluice compact` in a process of its own. Their objects are removed one to two days later.',
  {
    enabled: booleanOption(
      true,
      'Whether the daemon runs it. Without it, objects stay until `sluice compact` has run.',
    ),
    older_than: { ...DURATION, minimum: 0, default: '1h', description: 'Only requests that arrived this long ago.' },
    keep: {
      ...DURATION,
      minimum: DAY_MS,
      description: 'Files of days that ended this long ago are removed. Left out: they stay.',
    },
    interval: { ...DURATION, minimum: 600_000, default: '1h', description: 'Time between two runs.' },
    memory: {
      type: 'integer',
      format: 'byte_size',
      minimum: 268_435_456,
      default: '1GiB',
      description: 'Memory of the process; the rest is in files.',
    },
  },
);

/**
 * Whether there is anything to publish, to finish, to erase or to remove. In an idle installation most runs have
 * nothing to do and start no process. Days are counted as in `sluice compact`.
 */
const DUE = `
  SELECT EXISTS (SELECT FROM sluice.parts WHERE compaction IS NULL AND received_at < now() - $1::float8 * interval '1 ms')
    OR EXISTS (SELECT FROM sluice.compactions WHERE published_at IS NULL OR published_at < now() - interval '1 day')
    OR EXISTS (SELECT FROM sluice.lake_erasures)
    OR EXISTS (SELECT FROM sluice.lake_jobs WHERE NOT ${IS_OF_TABLES} AND (state <> 'published' OR (day + 1)::timestamp <= (now() - $2::float8 * interval '1 ms') AT TIME ZONE 'UTC')) AS due`;

/** The command reads the options from the configuration. */
export const scheduleOf = ({
  to,
  compaction: { older_than: olderThan, keep, interval },
}: {
  readonly to: string;
  readonly compaction: Pick<CompactionOptions, 'older_than' | 'keep' | 'interval'>;
}): ScheduledCommand => ({
  name: 'compaction',
  words: ['compact'],
  intervalMs: interval,
  to,
  due: { text: DUE, values: [olderThan, keep ?? null] },
  messages: {
    begun: 'publishing the records of objects',
    progress: 'publishing',
    complete: 'the compaction is complete',
    failed: 'the compaction failed and is tried again; objects that are not published are kept',
  },
});
