/** `sluice restore FILE`: reads a backup into an empty database. */
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { checkRequirements } from '../extensions/postgres/first-contact.ts';
import { BackupReader, END_SIGNATURE, incomplete } from '../extensions/postgres/transfer/backup-file.ts';
import { BLOCK_BYTES } from '../extensions/postgres/transfer/copy.ts';
import { checkBackup, restore, type RestoreOptions } from '../extensions/postgres/transfer/restore.ts';
import { knownMigrations } from '../extensions/postgres/transfer/target.ts';
import { STREAM } from './backup.ts';
import type { Call, Command } from './command.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { migrate, withDatabase } from './database.ts';
import { refuseForeignDatabase } from './foreign-database.ts';
import { formatCount } from './view/format.ts';
import { progressLines } from './view/progress.ts';
import { fileFault } from '../component/file-fault.ts';
import { flagOption, onlyWord } from './options.ts';

export const command: Command = {
  description:
    'The database of the configuration must be empty: a new data_dir, or a new database of your own server. Everything is\nrestored in one transaction, so after a failure or an interruption the database is empty, and the command can be run\nagain. Rows and checksums are verified. The schema is then brought up to this version. "-" reads standard input.',
  options: {
    ...CONFIG_OPTIONS,
    check: flagOption('Only read the file and verify its checksums'),
  },
  examples: [
    ['sluice restore /backups/sluice.backup', 'into an empty ./data, or the database of DATABASE_URL'],
    ['sluice restore sluice.backup --set extensions.postgres.data_dir=/srv/data', 'into another folder'],
    ['sluice restore sluice.backup --check', 'verify a backup'],
  ],
  run: async (call) => {
    const { chunks, fileBytes } = await openSource(call);
    const backup = await BackupReader.open(chunks);
    const options = { report: progressLines((text) => call.terminal.say(text)), fileBytes };
    if (call.values.flag('check')) {
      const rows = await checkBackup(backup, options);
      call.terminal.print(`The backup of ${backup.header.taken_at} is complete: ${formatCount(rows)} rows.`);
      return;
    }
    return restoreInto(call, backup, options);
  },
};

async function restoreInto(call: Call, backup: BackupReader, copying: RestoreOptions): Promise<void> {
  // Before a server is made for it.
  await knownMigrations(backup.header.migrations);
  return withDatabase(call, 'create', async (database, { config, address, options }) => {
    await refuseForeignDatabase(call, config);
    await checkRequirements(address, options);
    const { rows, skipped } = await restore(database, backup, copying);
    for (const name of skipped) call.terminal.say(`warning: sluice.${name} is no table of Sluice: it was left out`);
    await migrate(call, address, options);
    call.terminal.print(`Restored ${formatCount(rows)} rows of the backup of ${backup.header.taken_at}.`);
  });
}

/** A file is refused at once when its end is missing; of a stream the end is seen last. */
async function openSource(
  call: Call,
): Promise<{ readonly chunks: AsyncIterable<Buffer>; readonly fileBytes: number | null }> {
  const word = onlyWord(call, 'FILE');
  if (word === STREAM) return { chunks: chunksOf(call.process.stdin, 'standard input'), fileBytes: null };
  const path = resolve(call.process.cwd(), word);
  try {
    const handle = await open(path);
    const { size } = await handle.stat();
    const end = Buffer.alloc(END_SIGNATURE.length);
    const { bytesRead } = await handle.read(end, 0, end.length, Math.max(0, size - end.length));
    await handle.close();
    // The reader says what else it may be.
    if (bytesRead === end.length && !end.equals(END_SIGNATURE)) await refuseRest(path);
    return { chunks: chunksOf(createReadStream(path, { highWaterMark: BLOCK_BYTES }), word), fileBytes: size };
  } catch (error) {
    throw unreadable(word, error);
  }
}

/** A disk can fail in the middle of the file. */
async function* chunksOf(stream: AsyncIterable<Buffer>, word: string): AsyncGenerator<Buffer> {
  try {
    yield* stream;
  } catch (error) {
    throw unreadable(word, error);
  }
}

const unreadable = (word: string, error: unknown): unknown =>
  error instanceof UserError || !(error instanceof Error)
    ? error
    : new UserError(`${word} cannot be read: ${fileFault(error)}`);

/** Another kind of file has its own message. */
async function refuseRest(path: string): Promise<never> {
  await BackupReader.open(createReadStream(path));
  throw incomplete();
}
