/** Erases records in the archive after they were removed from PostgreSQL, for `sluice prune`. */
import { unlockArchive, waitForArchive } from '../../archive/archive.ts';
import { finishErasures } from '../../archive/erasure.ts';
import { readPlace } from '../../archive/reading/archived-files.ts';
import { UserError } from '../../errors.ts';
import type { Database } from '../../extensions/postgres/database.ts';
import { DEFAULT_MEMORY_BYTES, findArchiveOptions, openPlace } from './archive-place.ts';
import { withArchiveSession, withArchiveWork } from './archive-work.ts';
import type { Call } from '../command.ts';
import type { Opened } from '../database.ts';
import { plural } from '../view/format.ts';

/** Also finishes what earlier commands and the console requested. */
export async function eraseArchived(call: Call, database: Database, { config, options }: Opened): Promise<void> {
  const { terminal, values } = call;
  const query = database.query.bind(database);
  const { rows } = await query(
    'SELECT EXISTS (SELECT FROM sluice.lake_erasures) AND EXISTS (SELECT FROM sluice.lake_jobs) AS requested',
  );
  if (rows[0]?.['requested'] !== true) return;
  const configured = findArchiveOptions(config);
  const place = values.text('lake') ?? configured?.to ?? (await readPlace(query));
  if (place === null)
    throw new UserError(
      'the archive may still have the records: no run has recorded where it is',
      'Repeat the command with --lake DIR, or run `sluice archive`, which erases them too.',
    );
  const store = openPlace(call, place);
  try {
    const erased = await withArchiveSession(database, async (session) => {
      terminal.say(`Erasing in the archive ${store.url}, when no other command changes it.`);
      await waitForArchive(session);
      try {
        const memoryBytes = configured?.memory ?? DEFAULT_MEMORY_BYTES;
        return await withArchiveWork(
          call,
          { session, store, views: options.views_schema, memoryBytes },
          finishErasures,
        );
      } finally {
        await unlockArchive(session);
      }
    });
    terminal.print(`Erased ${plural(erased.records, 'record')} in ${plural(erased.files, 'file')} of the archive.`);
  } finally {
    await store.close();
  }
}
