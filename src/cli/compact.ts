/** `sluice compact`: the records of the exporter `objects` as Parquet files in the lake of its folder or bucket. */
import { requireOrigin } from '../archive/archive.ts';
import { type CompactionWork, compact } from '../archive/compaction/compact.ts';
import { waitingParts } from '../archive/compaction/compactions.ts';
import { requireKnownFiles } from '../archive/unknown-files.ts';
import { UserError } from '../errors.ts';
import type { ObjectsOptions } from '../exporters/objects/objects.ts';
import { claimPlace } from '../exporters/objects/owner.ts';
import type { ObjectStore } from '../object-store/object-store.ts';
import { durationOf, memoryOf, WORK_OPTIONS } from './lake/archive-options.ts';
import { findArchiveOptions, findObjectsOptions, keyOfObject, openPlace } from './lake/archive-place.ts';
import {
  noteExpired,
  printWritten,
  sayWritten,
  type WorkPlace,
  withArchiveSession,
  withArchiveWork,
} from './lake/archive-work.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { type Opened, withDatabase } from './database.ts';
import { layOut } from './terminal.ts';
import { formatBytes, formatCount } from './view/format.ts';
import { asJson } from './view/screen-text.ts';
import { flagOption, textOption } from './options.ts';

/** The share of the memory for the compressed parts of one group. */
const GROUP_SHARE = 1 / 8;

export const command: Command = {
  description:
    'Writes the records of accepted requests, which the exporter `objects` stored, as sorted Parquet below lake/ in its folder or\nbucket. What is not given is as in exporters.objects.compaction, whose schedule runs this command too.\nEach file is read back and compared before it is recorded. An interrupted run is repeated. The objects are removed by the\ndaemon one to two days later. It does not work where `sluice archive` writes the lake.',
  options: {
    ...CONFIG_OPTIONS,
    'older-than': textOption('DURATION', 'Only requests that arrived this long ago', {
      otherwise: 'as configured, else 1h',
    }),
    ...WORK_OPTIONS,
    'dry-run': flagOption('Only show what would be published'),
    json: flagOption('Print JSON'),
  },
  examples: [
    ['sluice compact', 'what is older than an hour'],
    ['sluice compact --older-than 10m --dry-run', 'what a run would publish'],
  ],
  run: async (call) => {
    const given = {
      olderThanMs: durationOf(call.values, 'older-than'),
      keepMs: durationOf(call.values, 'keep'),
      memoryBytes: memoryOf(call.values),
    };
    return withDatabase(call, 'write', async (database, opened) => {
      const { to, compaction } = optionsOf(opened);
      const olderThanMs = given.olderThanMs ?? compaction.older_than;
      const store = openPlace(call, to);
      try {
        const isDry = call.values.flag('dry-run');
        if (!isDry) await claimPlace(store, database);
        return await withArchiveSession(database, async (session) => {
          if (isDry) return showWaiting(call, { session, store }, olderThanMs);
          const memoryBytes = given.memoryBytes ?? compaction.memory;
          const place = { session, store, views: opened.options.views_schema, memoryBytes };
          return run(call, place, { olderThanMs, keepMs: given.keepMs ?? compaction.keep ?? null });
        });
      } finally {
        await store.close();
      }
    });
  },
};

function optionsOf({ config }: Opened): ObjectsOptions {
  const options = findObjectsOptions(config);
  if (options === null)
    throw new UserError(
      'no pipeline of the configuration has the exporter `objects`',
      'Name the configuration of the daemon with --config. To write days of the tables, use `sluice archive`.',
    );
  if (findArchiveOptions(config) !== null)
    throw new UserError(
      'the configuration has an archive: records that both exporters store would be in the lake twice',
      'Remove exporters.postgres.archive to publish the objects.',
    );
  return options;
}

async function showWaiting(
  { values, terminal }: Call,
  lake: Pick<WorkPlace, 'session' | 'store'>,
  olderThanMs: number,
): Promise<void> {
  await requireOrigin(lake.session, 'parts');
  await requireKnownFiles(lake, 'parts');
  const waiting = await waitingParts(lake.session.query, olderThanMs);
  if (values.flag('json')) terminal.print(asJson(waiting));
  else if (waiting.length === 0) terminal.print('All objects are published.');
  else {
    const rows = waiting.map(({ day, signal, parts, records, bytes }) => [
      day,
      signal,
      formatCount(parts),
      formatCount(records),
      formatBytes(bytes),
    ]);
    terminal.print(layOut([['ARRIVED', 'SIGNAL', 'REQUESTS', 'RECORDS', 'COMPRESSED'], ...rows]));
  }
}

async function run(
  call: Call,
  place: WorkPlace & { readonly store: ObjectStore },
  ages: Pick<CompactionWork, 'olderThanMs' | 'keepMs'>,
): Promise<void> {
  const files = await withArchiveWork(call, place, (archiveWork) => {
    const work = { ...archiveWork, ...ages, keyOf: keyOfObject, maxBytes: place.memoryBytes * GROUP_SHARE };
    return sayWritten(call, compact(work, noteExpired(call, work)));
  });
  printWritten(call, files, { verb: 'Published', none: 'All objects of this age are published.' });
}
