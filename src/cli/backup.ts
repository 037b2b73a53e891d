/** `sluice backup FILE`: all data of one moment in one file, while the daemon runs. */
import { onlyWord } from './options.ts';
import { resolve } from 'node:path';
import { diskRemedy } from '../component/disk-remedy.ts';
import { UserError } from '../errors.ts';
import { backUp } from '../extensions/postgres/transfer/backup.ts';
import type { Sink } from '../extensions/postgres/transfer/backup-file.ts';
import type { Call, Command } from './command.ts';
import { CompleteFile } from './complete-file.ts';
import { CONFIG_OPTIONS } from './config-options.ts';
import { withDatabase } from './database.ts';
import { versionOf } from '../component/version.ts';
import { formatBytes, formatCount } from './view/format.ts';
import { progressLines } from './view/progress.ts';
import { fileFault, OTHER_PLACE } from '../component/file-fault.ts';

/** Instead of a file: standard output or input. */
export const STREAM = '-';

export const command: Command = {
  description:
    'Writes everything that Sluice stores, as of one moment, while daemons continue to write: FILE.partial first, which\nis renamed when it is complete and on disk. `sluice restore` reads the file. "-" writes to standard output.',
  options: CONFIG_OPTIONS,
  examples: [
    ['sluice backup /backups/sluice.backup', 'an existing file is replaced when the new one is complete'],
    ["sluice backup - | ssh other 'cat > sluice.backup'", 'to another machine'],
  ],
  run: (call) =>
    withDatabase(call, 'copy', async (database) => {
      const file = onlyWord(call, 'FILE');
      const say = (text: string): void => call.terminal.say(text);
      const destination = file === STREAM ? streamTo(call) : await openFile(call, resolve(call.process.cwd(), file));
      try {
        const options = { version: versionOf(), report: progressLines(say) };
        const { rows, bytes, takenAt } = await backUp(database, destination, options);
        await destination.finish();
        say(`Backed up ${formatCount(rows)} rows as of ${takenAt.toISOString()}: ${formatBytes(bytes)}.`);
      } catch (error) {
        await destination.abandon();
        throw error;
      }
    }),
};

interface Destination extends Sink {
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

async function openFile({ earlyEnd }: Call, path: string): Promise<Destination> {
  const file = await explained(path, () => CompleteFile.open(path, earlyEnd));
  return {
    write: (data) => explained(path, () => file.write(data)),
    finish: () => explained(path, () => file.finish()),
    abandon: () => file.abandon(),
  };
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UserError(`${path} cannot be written: ${fileFault(error)}`, `Nothing has changed. ${OTHER_PLACE}`);
  }
}

function streamTo({ process: { stdout } }: Call): Destination {
  if (stdout.isTTY)
    throw new UserError('a backup is not written to a terminal', 'Name a file, or redirect the output.');
  // The default handler would exit with 0 when the reader ends early.
  stdout.removeAllListeners('error');
  stdout.on('error', () => undefined);
  const write = (data: Buffer): Promise<void> =>
    new Promise((done, fail) => {
      stdout.write(data, (error) => {
        if (error) fail(new UserError(`the backup cannot be written: ${fileFault(error)}`, diskRemedy(error)));
        else done();
      });
    });
  return { write, finish: async () => undefined, abandon: async () => undefined };
}
