/** `sluice restore-day DAY`: brings an archived day back into PostgreSQL. */
import { IS_OF_TABLES } from '../component/archived-day.ts';
import { parseMoment } from '../component/moment.ts';
import { lockArchive, unlockArchive } from '../archive/archive.ts';
import { LAKE_TABLES, type LakeSignal } from '../archive/lake-table.ts';
import { type RestoredTable, restoreTable, type RestoreWork } from '../archive/restore-day.ts';
import { parseDuration } from '../config/units.ts';
import { UserError } from '../errors.ts';
import { dropUnlessKept } from '../exporters/postgres/archived-days.ts';
import {
  attachment,
  boundOf,
  creation,
  dayOf,
  openingLock,
  PARTITION_LIMITS,
  type PartitionedTable,
  partitionName,
} from '../exporters/postgres/partitions.ts';
import type { Database } from '../extensions/postgres/database.ts';
import { DEFAULT_MEMORY_BYTES, findArchiveOptions, openPlace } from './lake/archive-place.ts';
import { withArchiveSession, withArchiveWork } from './lake/archive-work.ts';
import type { Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, textOption, UsageError, type Values } from './options.ts';
import { plural } from './view/format.ts';
import { asJson } from './view/screen-text.ts';

const DATE = /^\d{4}-\d\d-\d\d$/u;

export const command: Command = {
  description:
    'Copies the spans, log records and metric points of a UTC day from the files of `sluice archive` into PostgreSQL, and\ncompares them with what was recorded. The files stay. Retention keeps the day for the given time, and then drops it\nagain. A day that PostgreSQL still has is only kept. An interrupted run is repeated.',
  options: {
    ...CONFIG_OPTIONS,
    from: textOption('DIR', 'The folder or bucket of the archive', { otherwise: 'exporters.postgres.archive.to' }),
    for: textOption('DURATION', 'How long retention keeps the day', { default: '7d' }),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice restore-day 2026-11-22', 'from the configured archive, for a week'],
    ['sluice restore-day 2026-11-22 --from s3://bucket/prefix --for 30d', 'from a bucket, for a month'],
  ],
  run: async (call) => {
    const { values, terminal } = call;
    const day = dayOfWord(call.words[0]);
    const untilMs = Date.now() + periodOf(values);
    return withDatabase(call, 'write', async (database, { config, options }) => {
      const configured = findArchiveOptions(config);
      await refuseObjects(database);
      const from = values.text('from') ?? configured?.to;
      if (from === undefined)
        throw new UsageError('name the archive', 'as --from /archive or --from s3://bucket/prefix');
      const store = openPlace(call, from);
      const memoryBytes = configured?.memory ?? DEFAULT_MEMORY_BYTES;
      try {
        const restored = await withArchiveSession(database, (session) =>
          withArchiveWork(call, { session, store, views: options.views_schema, memoryBytes }, (work) =>
            restoreDay({ ...work, ...partitionsOf(database) }, { day, untilMs }),
          ),
        );
        if (restored.length === 0)
          throw new UserError(
            `no record of ${day} is archived`,
            'See `sluice archive --dry-run`, and sluice.lake_jobs.',
          );
        terminal.print(values.flag('json') ? asJson(restored) : describe(restored, untilMs));
      } finally {
        await store.close();
      }
    });
  },
};

/** Their lake has days of objects only. */
async function refuseObjects(database: Database): Promise<void> {
  const { rows } = await database.query(`SELECT FROM sluice.lake_jobs WHERE NOT ${IS_OF_TABLES} LIMIT 1`);
  if (rows.length > 0)
    throw new UserError(
      'the files of this lake are of objects, which are not brought back into PostgreSQL',
      'Nothing has to be restored: the commands and the console read the files. For SQL, use DuckDB (docs/archive.md).',
    );
}

/** A day that has ended. */
function dayOfWord(word: string | undefined): string {
  const ms = word !== undefined && DATE.test(word) ? parseMoment(word) : Number.NaN;
  if (word === undefined || Number.isNaN(ms)) {
    const fault = word === undefined ? 'name a day' : `"${word}" is not a day`;
    throw new UsageError(fault, 'as sluice restore-day 2026-11-22');
  }
  if (dayOf(ms) >= dayOf(Date.now())) throw new UsageError(`${word} has not ended`);
  return word;
}

function periodOf(values: Values): number {
  const text = values.word('for');
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--for takes a duration, not "${text}"`, 'as 36h or 7d');
  return ms;
}

async function restoreDay(
  work: RestoreWork,
  choice: { readonly day: string; readonly untilMs: number },
): Promise<readonly RestoredTable[]> {
  await lockArchive(work.session, 'tables');
  try {
    const restored: RestoredTable[] = [];
    for (const table of LAKE_TABLES) {
      const one = await restoreTable(work, table, choice);
      if (one !== null) restored.push(one);
    }
    return restored;
  } finally {
    await unlockArchive(work.session);
  }
}

/** The archive does not know how the exporter makes and drops its partitions. */
export function partitionsOf(database: Database): Pick<RestoreWork, 'statements' | 'drop'> {
  const tableOf = (name: LakeSignal): PartitionedTable => ({
    name,
    key: name === 'spans' ? 'nanoseconds' : 'timestamp',
    retentionMs: 0,
  });
  return {
    statements: (signal, date) => {
      const [table, day] = [tableOf(signal), dayOf(Date.parse(date))];
      const name = partitionName(table, day);
      const bounds = [boundOf(table, day), boundOf(table, day + 1)] as const;
      return {
        name,
        lock: openingLock(name),
        create: (as) => creation(table, as, ...bounds),
        attach: attachment(table, name, ...bounds),
      };
    },
    drop: (signal, date) => {
      const [table, day] = [tableOf(signal), dayOf(Date.parse(date))];
      return database.session(PARTITION_LIMITS, (query) =>
        dropUnlessKept(query, table, { day, name: partitionName(table, day) }, { archived: true, notRestored: false }),
      );
    },
  };
}

function describe(restored: readonly RestoredTable[], untilMs: number): string {
  const lines = restored.map(({ signal, records, present }) =>
    present
      ? `${signal}: PostgreSQL has all ${plural(records, 'record')}`
      : `${signal}: ${plural(records, 'record')} restored`,
  );
  return [...lines, `Retention keeps the day until ${new Date(untilMs).toISOString()}.`].join('\n');
}
