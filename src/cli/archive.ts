/** `sluice archive`: days that have ended as Parquet files in a folder or bucket. */
import { archive, planned, type PlannedFile, requireOrigin } from '../archive/archive.ts';
import type { Session } from '../archive/archive-day.ts';
import { requireKnownFiles, unknownFiles } from '../archive/unknown-files.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import type { Config } from '../config/config.ts';
import { DEFAULT_MEMORY_BYTES, findArchiveOptions, openPlace } from './lake/archive-place.ts';
import { durationOf, memoryOf, WORK_OPTIONS } from './lake/archive-options.ts';
import { noteExpired, printWritten, sayWritten, withArchiveSession, withArchiveWork } from './lake/archive-work.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { flagOption, textOption, UsageError } from './options.ts';
import { layOut } from './terminal.ts';
import { formatBytes, formatCount, UNKNOWN } from './view/format.ts';
import { asJson } from './view/screen-text.ts';
import { DAY_MS } from '../pdata/time-units.ts';

/** Where neither the command nor the configuration says otherwise. */
const DEFAULT_AGE_MS = 7 * DAY_MS;

const AS_CONFIGURED = 'exporters.postgres.archive.to';

export const command: Command = {
  description:
    'Writes the spans, log records and metric points of each UTC day that has ended as Parquet, sorted, below lake/ in DIR. What is not\ngiven is as in exporters.postgres.archive, whose schedule runs this command too.\nEach file is read back and compared with the database before it is recorded. Records that arrived later become further\nfiles at the next run. An interrupted run is repeated. Nothing is removed from the database. With --keep, files of older days are\nremoved from the archive, if the database has nothing of them any more.',
  options: {
    ...CONFIG_OPTIONS,
    to: textOption('DIR', 'A folder, or s3://bucket/prefix', { otherwise: AS_CONFIGURED }),
    'older-than': textOption('DURATION', 'Only days that ended this long ago', { otherwise: 'as configured, else 7d' }),
    ...WORK_OPTIONS,
    adopt: flagOption('First record files that the database does not know, after a restore'),
    'dry-run': flagOption('Only show what would be archived'),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice archive --to /archive', 'what is older than seven days'],
    ['sluice archive --to /archive --older-than 1d --dry-run', 'the days, and how large their files may be'],
  ],
  run: async (call) => {
    const given = {
      to: call.values.text('to'),
      olderThanMs: durationOf(call.values, 'older-than'),
      keepMs: durationOf(call.values, 'keep'),
      memoryBytes: memoryOf(call.values),
    };
    return withDatabase(call, 'write', async (database, { options, config }) => {
      const settings = settingsOf(given, config);
      const store = openPlace(call, settings.to);
      try {
        return await withArchiveSession(database, (session) => {
          const choice = { ...settings, views: options.views_schema, store, session };
          return call.values.flag('dry-run') ? showPlan(call, choice) : run(call, choice);
        });
      } finally {
        await store.close();
      }
    });
  },
};

interface Settings {
  readonly to: string;
  readonly olderThanMs: number;
  /** Null: files stay. */
  readonly keepMs: number | null;
  readonly memoryBytes: number;
}

function settingsOf(
  { to, olderThanMs, keepMs, memoryBytes }: { readonly [Key in keyof Settings]: Settings[Key] | undefined },
  config: Config,
): Settings {
  const configured = findArchiveOptions(config);
  const place = to ?? configured?.to;
  if (place === undefined) throw new UsageError('name where to', 'as --to /archive or --to s3://bucket/prefix');
  return {
    to: place,
    olderThanMs: olderThanMs ?? configured?.older_than ?? DEFAULT_AGE_MS,
    keepMs: keepMs ?? configured?.keep ?? null,
    memoryBytes: memoryBytes ?? configured?.memory ?? DEFAULT_MEMORY_BYTES,
  };
}

interface Choice extends Settings {
  readonly views: string;
  readonly store: ObjectStore;
  readonly session: Session;
}

async function showPlan({ values, terminal }: Call, { session, store, views, olderThanMs }: Choice): Promise<void> {
  await requireOrigin(session, 'tables');
  const lake = { session, store };
  if (values.flag('adopt'))
    for (const { key } of await unknownFiles(lake)) terminal.say(`${key}: the database does not know it`);
  else await requireKnownFiles(lake, 'tables');
  const files = await planned(session, views, { olderThanMs });
  terminal.print(values.flag('json') ? asJson(files) : planTable(files));
}

function planTable(files: readonly PlannedFile[]): string {
  if (files.length === 0) return 'All days are archived.';
  const rows = files.map(({ signal, day, records, expected_bytes: bytes, late }) => [
    day,
    signal,
    `${formatCount(records)}${late ? ' late' : ''}`,
    late ? UNKNOWN : `~${formatBytes(bytes)}`,
  ]);
  return layOut([['DAY', 'SIGNAL', 'RECORDS', 'FILE'], ...rows]);
}

async function run(call: Call, { olderThanMs, keepMs, ...place }: Choice): Promise<void> {
  const selection = { olderThanMs, keepMs, adopts: call.values.flag('adopt') };
  const files = await withArchiveWork(call, place, (work) =>
    sayWritten(call, archive(work, selection, noteExpired(call, work))),
  );
  printWritten(call, files, { verb: 'Archived', none: 'All days are archived.' });
}
